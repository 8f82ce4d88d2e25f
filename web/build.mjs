// Builds the player as one ES module with its styles inside, into the Python package.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

await build({
  root: here,
  configFile: false,
  logLevel: "warn",
  build: {
    lib: { entry: "src/main.ts", formats: ["es"], fileName: () => "player.js" },
    outDir: "../src/kinode/studio/static",
    emptyOutDir: true,
    target: "es2022",
    minify: "oxc",
    rolldownOptions: { output: { codeSplitting: false } },
    chunkSizeWarningLimit: 1500,
  },
});
