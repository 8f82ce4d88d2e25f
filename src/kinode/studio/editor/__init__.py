"""The editor of models: canvas, inspector, completion, library, derivations and studies, as answers to requests."""
