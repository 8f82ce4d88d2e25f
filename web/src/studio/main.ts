// The studio's module: its page starts by itself.

import { makePartList } from "./part_list";
import { startStudio } from "./studio_page";

export { startStudio };

if (typeof document !== "undefined") {
  const start = (): void => {
    const host = document.querySelector<HTMLElement>("[data-kinode-studio]");
    if (host !== null) startStudio(host, { canvas: makePartList, palette: makePartList });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
}
