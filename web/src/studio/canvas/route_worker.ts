// Routes drawings away from the page: one message in, one out.

import { Router } from "./router";
import type { RoutePlan } from "./route_types";

self.addEventListener("message", (event: MessageEvent<{ number: number; plan: RoutePlan }>) => {
  const { number, plan } = event.data;
  self.postMessage({ number, answer: new Router(plan).route() });
});
