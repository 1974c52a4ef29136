import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programOf, ROOT } from './members.ts'

/**
 * The commit whose program is the previous version: until 0.1.0 is released, that which made its schema the baseline.
 * Set to the tag of a release with each release.
 */
export const BASELINE = '48774774e0dc751517028ee0bf314f2d85c47856'

/** The previous version, built. */
export interface Baseline {
  readonly commit: string
  readonly program: string
  /** Files of its schema that were changed in place since: allowed before the first release only. */
  readonly changedMigrations: readonly string[]
  remove(): Promise<void>
}

/** There is no history to take the previous version from. Its message is for people. */
export class NoHistory extends Error {
  override name = 'NoHistory'
}

const run = promisify(execFile)
const MEBIBYTE = 1_048_576

/** The full hash of a commit. Throws `NoHistory` where git or the commit is missing. */
export async function commitOf(root: string, revision: string): Promise<string> {
  try {
    const { stdout } = await run('git', [
      '-C',
      root,
      'rev-parse',
      '--verify',
      '--quiet',
      `${revision}^{commit}`,
    ])
    return stdout.trim()
  } catch (cause) {
    throw new NoHistory(
      `The upgrade run needs git and the commit ${revision} of the baseline. In a shallow clone run: git fetch --unshallow`,
      { cause },
    )
  }
}

/** Takes the baseline's files out of the history of this tree, and builds its program in a folder of its own. */
export async function buildBaseline(revision = BASELINE): Promise<Baseline> {
  const commit = await commitOf(ROOT, revision)
  const folder = await mkdtemp(join(tmpdir(), 'svc-baseline-'))
  try {
    const archive = join(folder, 'files.tar')
    await run('git', ['-C', ROOT, 'archive', '--format=tar', `--output=${archive}`, commit])
    await run('tar', ['-xf', archive, '-C', folder])
    await install(folder)
    await run(process.execPath, ['scripts/build.mjs', 'svc'], { cwd: folder, maxBuffer: MEBIBYTE })
    return {
      commit,
      program: programOf(folder),
      changedMigrations: await changedMigrations(folder),
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly link?: boolean }>>
}

const lockOf = async (folder: string): Promise<LockFile> =>
  JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as LockFile

/** Its packages: those of this tree where it has all of them in the same versions, else by npm. */
async function install(folder: string): Promise<void> {
  const [theirs, ours] = await Promise.all([lockOf(folder), lockOf(ROOT)])
  const isHere = Object.entries(theirs.packages)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
    .every(([path, { version }]) => ours.packages[path]?.version === version)
  if (!isHere) {
    await run('npm', ['ci', '--ignore-scripts'], { cwd: folder, maxBuffer: 16 * MEBIBYTE })
    return
  }
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@svc'), { recursive: true })
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== '@svc' && !name.startsWith('.'))
      await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(modules, '@svc', name))
}

async function changedMigrations(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'migrations'))
  const sql = (root: string, name: string) => readFile(join(root, 'migrations', name), 'utf8').catch(() => '')
  const changed = await Promise.all(
    names.map(async (name) => ((await sql(folder, name)) === (await sql(ROOT, name)) ? [] : [name])),
  )
  return changed.flat()
}
