import { execFile } from 'node:child_process'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './sources.ts'

const run = promisify(execFile)

/** Builds and packs the SDK below a folder, away from `packages/sdk/dist`, which other tests may build. Returns the tarball. */
export async function packSdk(folder: string): Promise<string> {
  const source = join(folder, 'packed')
  await mkdir(source)
  for (const file of ['package.json', 'README.md', 'LICENSE'])
    await cp(join(ROOT, 'packages/sdk', file), join(source, file))
  await run(process.execPath, [join(ROOT, 'scripts/build-sdk.mjs'), join(source, 'dist')])
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: source })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (!tarball) throw new Error(`npm pack left no tarball in ${folder}`)
  return join(folder, tarball)
}
