// The gallery: a new model, the models of the folder, the examples with their circuits.

import type { Gallery } from "../../messages";
import { errorWords } from "../../live/live_desk";
import { make } from "../../ui/elements";

export interface GalleryActions {
  load(): Promise<Gallery>;
  open(what: { example: string } | { model: string } | "new"): Promise<boolean>;
  say(words: string, kind: "error"): void;
}

export function openGallery(root: HTMLElement, actions: GalleryActions): void {
  if (root.querySelector("dialog.gallery") !== null) return;
  const close = make("button", { type: "button", class: "tool" }, "Close");
  const fresh = make("button", { type: "button", class: "primary" }, "New model");
  const find = make("input", { type: "search", placeholder: "Search examples", "aria-label": "Search examples" });
  const cards = make("div", { class: "cards" }, make("p", { class: "muted" }, "Examples are being read."));
  const recent = make("div", { class: "recent" });
  const dialog = make("dialog", { class: "gallery", "aria-label": "Models" }, make("div", { class: "gallery-head" }, make("h2", {}, "Models"), find, fresh, close), recent, cards);
  const open = async (what: Parameters<GalleryActions["open"]>[0]): Promise<void> => {
    try {
      if (await actions.open(what)) dialog.close();
    } catch (error) {
      actions.say(errorWords(error), "error");
    }
  };
  close.addEventListener("click", () => dialog.close());
  fresh.addEventListener("click", () => void open("new"));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  root.append(dialog);
  dialog.showModal();
  actions.load().then(
    (gallery) => {
      fill(cards, gallery, (example) => void open({ example }));
      fillModels(recent, gallery, (model) => void open({ model }));
      find.addEventListener("input", () => filter(cards, find.value));
    },
    (error: unknown) => cards.replaceChildren(make("p", { role: "alert" }, errorWords(error))),
  );
}

function fill(cards: HTMLElement, gallery: Gallery, open: (file: string) => void): void {
  cards.replaceChildren(...gallery.examples.map(({ file, name, words, svg }) => {
    const picture = make("div", { class: "card-picture", "aria-hidden": "true" });
    picture.innerHTML = svg; // kinode's own drawing of its own example
    const card = make("button", { type: "button", class: "card", "data-words": `${name} ${words}`.toLowerCase() }, picture, make("strong", {}, name), make("span", {}, words));
    card.addEventListener("click", () => open(file));
    return card;
  }));
}

function fillModels(place: HTMLElement, gallery: Gallery, open: (file: string) => void): void {
  if (gallery.recent.length === 0) return;
  place.append(make("h3", {}, "In this folder"), ...gallery.recent.map(({ file }) => {
    const one = make("button", { type: "button", class: "link", title: file }, file.replace(/^.*[\\/]/, ""));
    one.addEventListener("click", () => open(file));
    return one;
  }));
}

function filter(cards: HTMLElement, words: string): void {
  const wanted = words.toLowerCase().split(/\s+/);
  for (const card of cards.querySelectorAll<HTMLElement>(".card")) card.hidden = !wanted.every((word) => card.dataset["words"]!.includes(word));
}
