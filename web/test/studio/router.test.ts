import { describe, expect, it } from "vitest";
import stored from "../../fixtures/routes.json";
import { Router } from "../../src/studio/canvas/router";
import { floorDivide, roundHalfEven, type RoutedLines, type RoutePlan } from "../../src/studio/canvas/route_types";

interface Routed {
  plan: RoutePlan;
  lines: Record<string, RoutedLines>;
  crossings: number;
}
const routes = stored as unknown as Record<string, Routed>;

describe("the router", () => {
  for (const [name, circuit] of Object.entries(routes)) {
    it(`gives the lines that kinode gives: ${name}`, () => {
      const answer = new Router(circuit.plan).route();
      expect(answer.crossings).toBe(circuit.crossings);
      for (const link of Object.keys(circuit.lines)) expect(answer.lines[link], link).toEqual(circuit.lines[link]);
    });
  }

  it("rounds as Python does", () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6].map((x) => roundHalfEven(x) + 0)).toEqual([0, 2, 2, 0, -2, 2, -3]);
    expect([-1, -10, 29.999999999999996, 30, -0.3].map((x) => floorDivide(x, 10) + 0)).toEqual([-1, -1, 2, 3, -1]);
  });

  it("leads through waypoints", () => {
    const { plan } = routes["rlc"]!;
    const name = plan.links[0]!.name;
    const links = plan.links.map((link) => (link.name === name ? { ...link, waypoints: [[60, -120] as [number, number]] } : link));
    const lines = new Router({ ...plan, links }).route().lines[name]!;
    expect(lines.path.flat().some(([x, y]) => y === -120 && x <= 60) && lines.path.flat().some(([x, y]) => y === -120 && x >= 60)).toBe(true);
    for (const line of lines.path) for (let k = 0; k + 1 < line.length; k++) expect(line[k]![0] === line[k + 1]![0] || line[k]![1] === line[k + 1]![1]).toBe(true);
  });

  it("routes some links around those that stay", () => {
    const { plan, lines } = routes["motor_axis"]!;
    const kept = new Map(Object.entries(lines).map(([name, each]) => [name, each.path]));
    for (const link of plan.links) {
      const answer = new Router(plan).routeSome(new Set([link.name]), kept);
      expect(Object.keys(answer)).toEqual([link.name]);
      expect(answer[link.name], link.name).toEqual(lines[link.name]);
    }
  });
});
