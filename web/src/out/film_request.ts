// A film that a program asks of the page (`kinode view --video`): it looks at the share, then fetches the bytes.

import type { Panel, PlayerContext } from "../panel";
import type { FilmOrder } from "./film";
import { makeStageFilm } from "./film_dialog";
import { evenSize, findFault } from "./film_times";
import { viewOf } from "./stage_pictures";

export interface FilmRequest {
  share: number;
  fault: string; // why there is no film
  film: Blob | null;
  /** A piece of the film in base64. */
  piece(from: number, to: number): Promise<string>;
}

/** Begins a film; what the order leaves out is as the page has it. */
export function requestFilm(context: PlayerContext, stage: Panel, given: Partial<FilmOrder>): FilmRequest {
  const { clock } = context;
  const request: FilmRequest = { share: 0, fault: "", film: null, piece: (from, to) => base64(request.film!.slice(from, to)) };
  const order: FilmOrder = { format: "webm", width: 1280, height: 720, rate: 30, from: clock.from, to: clock.to, speed: clock.speed, ...given };
  [order.width, order.height] = evenSize(order.width, order.height);
  [order.from, order.to] = [Math.max(order.from, clock.from), Math.min(order.to, clock.to)];
  const view = viewOf(stage);
  request.fault = view === null ? "there is no 3D picture of this model, hence no film" : findFault(order);
  if (view !== null && request.fault === "") {
    makeStageFilm(context, view, order, true, (share) => { request.share = share; }, new AbortController().signal).then(
      (film) => { request.film = film; },
      (error: unknown) => { request.fault = error instanceof Error ? error.message : String(error); },
    );
  }
  return request;
}

async function base64(piece: Blob): Promise<string> {
  const address = await new Promise<string>((give, refuse) => {
    const reader = new FileReader();
    reader.onload = () => give(reader.result as string);
    reader.onerror = () => refuse(new Error("the film could not be read"));
    reader.readAsDataURL(piece);
  });
  return address.slice(address.indexOf(",") + 1);
}
