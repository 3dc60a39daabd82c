// Builds web/src into the files that the program carries: each web/src/NAME.ts,
// .tsx or .css becomes OUT/assets/NAME.js or .css, and api/openapi.yaml becomes
// OUT/src/api/schema.d.ts. The same sources give the same bytes.
//
//   node tools/assets.mjs OUT
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";

const tools = fileURLToPath(new URL(".", import.meta.url));
const web = join(tools, "../web");
const out = resolve(process.argv[2] ?? "");
if (!process.argv[2]) throw new Error("node tools/assets.mjs OUT");

const types = await openapiTS(new URL("../api/openapi.yaml", import.meta.url), { alphabetize: true });
mkdirSync(join(out, "src/api"), { recursive: true });
writeFileSync(join(out, "src/api/schema.d.ts"), "// Made from api/openapi.yaml by make assets.\n" + astToString(types));

const entries = readdirSync(join(web, "src"), { withFileTypes: true })
  .filter((f) => f.isFile() && /(?<!\.d)\.(tsx?|css)$/.test(f.name))
  .map((f) => join(web, "src", f.name));
const banner = "/* Built from web/src by make assets. */";
await build({
  entryPoints: entries.map((path) => ({ in: path, out: parse(path).name })),
  outdir: join(out, "assets"),
  bundle: true, minify: true, format: "iife", target: "es2021", charset: "utf8", legalComments: "inline",
  jsx: "automatic", jsxImportSource: "preact",
  nodePaths: [join(tools, "node_modules")], absWorkingDir: web, logLevel: "warning",
  banner: { js: banner, css: banner },
});
