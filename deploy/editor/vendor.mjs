/* Copies pinned packages into static/, builds the editor bundle and the icon sprite, writes MANIFEST.txt. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const target = process.argv[2];
const manifest = [];

const packageFile = (name, path) => join("node_modules", name, path);
const version = (name) => JSON.parse(readFileSync(packageFile(name, "package.json"))).version;
const labelled = (names) => names.map((name) => `${name}@${version(name)}`).join(" ");

function record(path, licence, names) {
  const digest = createHash("sha256").update(readFileSync(join(target, path))).digest("hex");
  manifest.push([path, digest, licence, labelled(names)].join("\t"));
}

function copy(name, from, path, licence) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  copyFileSync(packageFile(name, from), join(target, path));
  record(path, licence, [name]);
}

function writeSprite() {
  const names = readFileSync("icons.txt", "utf8").split("\n").filter(Boolean);
  const symbols = names.map((name) => {
    const source = readFileSync(packageFile("lucide-static", `icons/${name}.svg`), "utf8");
    const shapes = source.slice(source.indexOf(">", source.indexOf("<svg")) + 1, source.lastIndexOf("</svg>"));
    return `<symbol id="i-${name}" viewBox="0 0 24 24">${shapes.replace(/\s*\n\s*/g, "").replaceAll(" />", "/>")}</symbol>`;
  });
  writeFileSync(join(target, "icons.svg"), `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.join("\n")}\n</svg>\n`);
  record("icons.svg", "ISC", ["lucide-static"]);
}

/* The names of the packages that esbuild really put into the bundle. */
function bundled(metafile) {
  const inside = Object.keys(metafile.outputs).flatMap((output) =>
    Object.entries(metafile.outputs[output].inputs)
      .filter(([, part]) => part.bytesInOutput > 0)
      .map(([input]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]),
  );
  return [...new Set(inside.filter(Boolean))].sort();
}

async function writeEditor() {
  const result = await build({
    entryPoints: ["editor.js"],
    outfile: join(target, "vendor/editor.js"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    metafile: true,
  });
  const names = bundled(result.metafile);
  const licences = names.map((name) => `${labelled([name])}\n\n${readFileSync(packageFile(name, "LICENSE"), "utf8").trim()}\n`);
  writeFileSync(join(target, "vendor/editor.LICENSE.txt"), licences.join(`\n${"-".repeat(72)}\n\n`));
  record("vendor/editor.js", "MIT", names);
}

function copyWithLicence(name, from, path, licence) {
  copy(name, from, path, licence);
  copyFileSync(packageFile(name, "LICENSE"), join(target, path.replace(/(\.min)?\.[a-z0-9]+$/, ".LICENSE.txt")));
}

copyWithLicence("@fontsource-variable/geist", "files/geist-latin-wght-normal.woff2", "fonts/geist.woff2", "OFL-1.1");
copy("@fontsource-variable/geist", "files/geist-latin-ext-wght-normal.woff2", "fonts/geist-ext.woff2", "OFL-1.1");
writeSprite();
copyFileSync(packageFile("lucide-static", "LICENSE"), join(target, "icons.LICENSE.txt"));
await writeEditor();
copyWithLicence("htmx.org", "dist/htmx.min.js", "vendor/htmx.min.js", "0BSD");
copyWithLicence("idiomorph", "dist/idiomorph-ext.min.js", "vendor/idiomorph-ext.min.js", "0BSD");

const head = "# path under static/, sha256, licence, packages. Written by deploy/editor/build.sh.";
writeFileSync(join(target, "vendor/MANIFEST.txt"), `${head}\n${manifest.join("\n")}\n`);
