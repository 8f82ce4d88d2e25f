import type { LibraryPart } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { LiveConnection, LiveError } from "../../src/live/connection";
import { StudioDocument } from "../../src/studio/document";
import { withBase } from "../../src/studio/inheriting/base_offer";
import { findPart, libraryChoices, portWords } from "../../src/studio/library/library_choices";
import { whyNotSaved } from "../../src/studio/library/library_commands";
import { LibraryLink } from "../../src/studio/library/library_link";
import { additionName, findAddition } from "../../src/studio/palette/kind_choices";
import type { Catalogue } from "../../src/studio/studio_types";
import { fileBeside } from "../../src/studio/subsystems/box_names";
import { FakeSocket } from "../support/fake_socket";

const part = (file: string, why = "", ports: string[] = []): LibraryPart => ({
  file, name: file.replace(/^.*\/|\.yaml$/g, ""), words: `About ${file}.`, why, parameters: [], symbol: "<path/>", size: [60, 40],
  ports: ports.map((name) => ({ name, kind: "energy", domain: name === "shaft" ? "rotational" : "", out: false })),
});
const catalogue = (...library: LibraryPart[]): Catalogue => ({ domains: [], kinds: [], groups: [{ name: "axis", words: "" }], library });

describe("parts of the library", () => {
  it("are choices with their ports; wrong files say why", () => {
    const [good, wrong] = libraryChoices(catalogue(part("library/drive.yaml", "", ["shaft", "on"]), part("bad.yaml", "line 2: no")));
    expect(good).toMatchObject({ label: "drive", detail: "About library/drive.yaml.", more: "ports: shaft (rotational), on" });
    expect(good!.off).toBeUndefined();
    expect(wrong!.off).toBe("bad.yaml: line 2: no");
    expect(portWords(part("x.yaml", "", ["shaft"]))).toBe("port: shaft (rotational)");
    expect(portWords(part("x.yaml", "", [..."abcdefgh"]))).toBe("ports: a, b, c, d, e, f, …");
    expect(portWords(part("x.yaml"))).toBe("");
  });

  it("are found again by the name that is dragged, also with spaces; wrong files are not", () => {
    const known = catalogue(part("library/my drive.yaml"), part("bad.yaml", "no"));
    const drive = known.library![0]!;
    expect(additionName({ part: drive })).toBe("part library/my drive.yaml");
    expect(findAddition(known, "part library/my drive.yaml")).toEqual({ part: drive });
    expect(findAddition(known, "part bad.yaml")).toBeNull();
    expect(findAddition(known, "group axis")).toEqual({ group: "axis" });
    expect(findPart({ domains: [], kinds: [], groups: [] }, "x")).toBeNull();
  });

  it("lie beside the file that names them", () => {
    expect(fileBeside("library/leg.yaml", "robot.yaml")).toBe("library/leg.yaml");
    expect(fileBeside("knee.yaml", "library/leg.yaml")).toBe("library/knee.yaml");
    expect(fileBeside("../foot.yaml", "library/leg.yaml")).toBe("foot.yaml");
    expect(fileBeside("./deep/./a.yaml", "library/leg.yaml")).toBe("library/deep/a.yaml");
  });

  it("are made of subsystems that are written out, and of other parts", () => {
    expect(whyNotSaved([])).toContain("Select");
    expect(whyNotSaved([{ inside: { file: "leg.yaml" } }])).toContain("leg.yaml");
    expect(whyNotSaved([{ inside: { file: "" } }])).toBe("");
    expect(whyNotSaved([{ inside: null }, { inside: { file: "leg.yaml" } }])).toBe("");
  });
});

describe("the link to the library", () => {
  it("asks when a model is opened, and takes what is pushed", async () => {
    const socket = new FakeSocket();
    const connection = new LiveConnection(() => socket);
    const document = new StudioDocument(connection);
    let told = 0;
    new LibraryLink(document, connection, () => told++);
    socket.open();
    const opening = document.open();
    socket.answer({
      seq: 1, kind: "studio_open", document: { text: "", version: 1, dirty: false, canUndo: false, canRedo: false, file: "a.yaml", recovered: null },
      sketch: { version: 1, extent: [0, 0, 1, 1], boxes: [], links: [] }, standing: { number: 1, version: 1, whole: true, problems: [], run: { state: "shown", words: "" }, proof: { state: "asleep", words: "" } }, settings: { readOnly: false }, catalogue: { domains: [], kinds: [], groups: [] },
    });
    await opening;
    await new Promise((resolve) => setTimeout(resolve, 0));
    const asked = socket.sent[socket.sent.length - 1]!;
    expect(asked["kind"]).toBe("library");
    socket.answer({ seq: asked["seq"], kind: "library", parts: [part("a.yaml")], folder: "library" });
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(document.catalogue.library!.map((each) => each.file)).toEqual(["a.yaml"]);
    socket.answer({ kind: "library", parts: [], folder: "library" });
    expect(document.catalogue.library).toEqual([]);
    expect(told).toBe(2);
  });
});

describe("a part of an extended file", () => {
  it("is renamed after the text of that file is taken over, in one step", () => {
    const gesture = { do: "rename", name: "motor", to: "engine" } as const;
    const refused = new LiveError({ message: "motor comes from base.yaml", type: "InheritedPartError" });
    expect(withBase(refused, gesture)).toEqual({ do: "all", gestures: [{ do: "take_base" }, gesture] });
    expect(withBase(refused, { do: "all", gestures: [gesture] })).toEqual({ do: "all", gestures: [{ do: "take_base" }, gesture] });
    expect(withBase(new LiveError({ message: "no", type: "ArgumentError" }), gesture)).toBeNull();
    expect(withBase(new Error("no"), gesture)).toBeNull();
    expect(withBase(refused, null)).toBeNull();
  });
});
