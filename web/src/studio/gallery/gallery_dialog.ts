// The gallery: a new model, files of late, the examples with their circuits.

import { errorWords } from "../../live/live_desk";
import { make } from "../../ui/elements";
import type { Gallery } from "../studio_types";

export interface GalleryActions {
  load(): Promise<Gallery>;
  open(file: string): Promise<void>;
  create(): Promise<void>;
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
  const run = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      dialog.close();
    } catch (error) {
      actions.say(errorWords(error), "error");
    }
  };
  close.addEventListener("click", () => dialog.close());
  fresh.addEventListener("click", () => void run(() => actions.create()));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  root.append(dialog);
  dialog.showModal();
  actions.load().then(
    (gallery) => {
      const opened = (file: string): void => void run(() => actions.open(file));
      fill(cards, gallery, opened);
      fillRecent(recent, gallery, opened);
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

function fillRecent(place: HTMLElement, gallery: Gallery, open: (file: string) => void): void {
  if (gallery.recent.length === 0) return;
  place.append(make("h3", {}, "Recent"), ...gallery.recent.map((entry) => {
    const file = typeof entry === "string" ? entry : entry.file;
    const one = make("button", { type: "button", class: "link", title: file }, file.replace(/^.*[\\/]/, ""));
    one.addEventListener("click", () => open(file));
    return one;
  }));
}

function filter(cards: HTMLElement, words: string): void {
  const wanted = words.toLowerCase().split(/\s+/);
  for (const card of cards.querySelectorAll<HTMLElement>(".card")) card.hidden = !wanted.every((word) => card.dataset["words"]!.includes(word));
}
