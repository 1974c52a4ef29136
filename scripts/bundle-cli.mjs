// Bundles `@svc/cli`: the commands that call a server, as one file without dependencies. `node scripts/bundle-cli.mjs FOLDER`.
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { noticesOf } from './notices.mjs'
import { billOf } from './sbom.mjs'
import { packagesIn, ROOT } from './shipped.mjs'

const into = resolve(process.argv[2] ?? join(ROOT, 'packages/cli/dist'))
const file = join(into, 'svc.mjs')
const { metafile } = await build({
  entryPoints: ['packages/cli/src/remote-cli.ts'],
  outfile: file,
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as requireOfLibraries } from 'node:module'; const require = requireOfLibraries(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
})
// A server in it would come by one import, and make it ten times as large.
const ofServer =
  /^packages\/(?:app|console-api|embedded-postgres)\/|^packages\/server\/(?!src\/sandbox\/sandbox-file\.ts$)/
const found = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.keys(inputs).filter((each) => ofServer.test(each)),
)
const bundled = packagesIn(metafile)
if (found.length > 0 || bundled.some((path) => /\/(?:pg|fastify|pino)$/.test(path))) {
  console.error(
    `@svc/cli must have no server and no database driver in it: ${[...found, ...bundled].join(', ')}`,
  )
  process.exit(1)
}
chmodSync(file, 0o755)
writeFileSync(join(into, 'THIRD-PARTY-LICENCES.txt'), noticesOf(bundled))
writeFileSync(join(into, 'sbom.cdx.json'), billOf('packages/cli', bundled))
