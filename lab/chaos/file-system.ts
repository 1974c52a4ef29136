import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const BYTES = 2 * 2 ** 30
/** As little as cannot be taken at once is left to others. */
const PIECES_BYTES = [2 ** 26, 2 ** 20, 2 ** 12]

/** Where the data lie: on a small file system of their own where this user may mount one, else in a directory. */
export interface Place {
  readonly directory: string
  /** Beside it, for what must go on when that disk is full: logs of the run. */
  readonly logs: string
  /** Why the disk cannot be filled here; `undefined` when it can. */
  readonly cannotFill: string | undefined
  /** Takes all the room that is left. */
  fill(): Promise<void>
  /** Gives it back. */
  empty(): Promise<void>
  remove(): Promise<void>
}

/** A sparse file with an ext4 in it, mounted: a disk that can be full without filling the machine's. */
export async function makePlace(): Promise<Place> {
  const parent = await mkdtemp(join(tmpdir(), 'svc-chaos-'))
  const image = join(parent, 'disk.img')
  const directory = join(parent, 'disk')
  await mkdir(directory, { mode: 0o755 })
  let cannotFill: string | undefined
  try {
    await writeFile(image, '')
    await truncate(image, BYTES)
    await run('mkfs.ext4', ['-q', '-m', '0', image])
    await run('mount', ['-o', 'loop', image, directory])
    process.once('exit', unmount)
  } catch (error) {
    cannotFill = `no file system can be mounted here (${(error as Error).message.split('\n')[0]})`
  }
  function unmount() {
    spawnSync('umount', ['-l', directory])
  }
  const ballast = join(directory, 'ballast')
  const take = (bytes: number) =>
    run('fallocate', ['-l', String(bytes), ballast]).then(
      () => true,
      () => false,
    )
  return {
    directory,
    logs: parent,
    cannotFill,
    async fill() {
      let taken = await stat(ballast).then(
        ({ size }) => size,
        () => 0,
      )
      for (const piece of PIECES_BYTES) while (await take(taken + piece)) taken += piece
    },
    empty: () => rm(ballast, { force: true }),
    async remove() {
      if (cannotFill === undefined) unmount()
      process.off('exit', unmount)
      await rm(parent, { recursive: true, force: true })
    },
  }
}
