import { type SpawnOptions, spawnSync } from 'node:child_process'
import { chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** PostgreSQL refuses to run as root, so root has two ways to run it as another user. */
export type RootWay = 'unshare' | 'setuid'
export const rootWays: readonly RootWay[] = ['unshare', 'setuid']

export interface Owner {
  uid: number
  gid: number
}

/** How to run a PostgreSQL program, and who owns the files that it makes. */
export interface Launcher {
  name: string
  owner: Owner
  /** The command line and spawn options that run `command` as the server's user. */
  wrap(command: string, args: readonly string[]): { command: string; args: string[]; options: SpawnOptions }
}

export type Reach = 'ok' | 'programs unreachable' | { reason: string }

/** `nobody`: it exists everywhere, with the passwd entry that initdb asks for. */
const nobody: Owner = { uid: 65534, gid: 65534 }

const me = (): Owner => ({ uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 })

/**
 * The server outlives this process and everything of the same user can read its environment, so it gets only
 * what it needs: no secrets, and no PG… variable that would change what it does. The working directory is `/`
 * because older PostgreSQL fails in one that its user cannot enter.
 */
function spawnOptions(): SpawnOptions {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C' }
  for (const name of ['PATH', 'HOME', 'LD_LIBRARY_PATH', 'TMPDIR']) {
    if (process.env[name] !== undefined) env[name] = process.env[name]
  }
  return { cwd: '/', env }
}

const plain = (): Launcher => ({
  name: 'plain',
  owner: me(),
  wrap: (command, args) => ({ command, args: [...args], options: spawnOptions() }),
})

/** Root's own files and directories, seen from a user namespace in which root is called `nobody`. */
const unshare = (): Launcher => ({
  name: 'unshare --user',
  owner: me(),
  wrap: (command, args) => ({
    command: 'unshare',
    args: ['--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, command, ...args],
    options: spawnOptions(),
  }),
})

const setuid = (owner: Owner): Launcher => ({
  name: `user ${owner.uid}`,
  owner,
  wrap: (command, args) => ({ command, args: [...args], options: { ...spawnOptions(), ...owner } }),
})

/**
 * The ways to run the server, best first. `clusterOwner` is who owns an existing cluster: a way that keeps
 * the owner comes first, and files that belong to neither root nor `nobody` stay with their owner.
 */
export function launchersFor(clusterOwner: Owner | undefined, ways: readonly RootWay[]): Launcher[] {
  if (me().uid !== 0) return [plain()]
  if (clusterOwner && clusterOwner.uid !== 0 && clusterOwner.uid !== nobody.uid) return [setuid(clusterOwner)]
  const launchers = ways.map((way) => (way === 'unshare' ? unshare() : setuid(nobody)))
  return clusterOwner?.uid === nobody.uid
    ? launchers.sort((a, b) => Number(b.owner.uid === nobody.uid) - Number(a.owner.uid === nobody.uid))
    : launchers
}

/** Tries whether the server's user can enter `dataDir` and run `program`. Always so for an ordinary user. */
export function probe(launcher: Launcher, dataDir: string, program: string): Reach {
  if (me().uid !== 0) return 'ok'
  const script = 'cd "$1" || exit 71; [ -x "$2" ] || exit 72'
  const { command, args, options } = launcher.wrap('/bin/sh', ['-c', script, 'sh', dataDir, program])
  const result = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (result.status === 0) return 'ok'
  if (result.status === 72) return 'programs unreachable'
  if (result.status === 71) return { reason: `${launcher.name} may not enter ${dataDir}` }
  const problem = result.error?.message ?? result.stderr.trim().split('\n').at(-1)
  return { reason: `${launcher.name} does not work here (${problem})` }
}

/** Makes `owner` the owner of a stopped cluster. The top directory comes last: an interrupted change starts over. */
export function giveTo(owner: Owner, dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name)
    if (entry.isDirectory()) giveTo(owner, file)
    else lchownSync(file, owner.uid, owner.gid)
  }
  chownSync(dir, owner.uid, owner.gid)
}

/** The owner of an existing file or directory, undefined when there is none. Links are not followed. */
export function ownerOf(file: string): Owner | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  return stat && { uid: stat.uid, gid: stat.gid }
}

/** Throws when an ordinary user is about to open another user's cluster. */
export function refuseOthersCluster(cluster: string, owner: Owner | undefined): void {
  const { uid } = me()
  if (!owner || uid === 0 || owner.uid === uid) return
  throw new Error(
    `The database cluster in ${cluster} belongs to user ${owner.uid}, and this process runs as user ${uid}. ` +
      'Run it as that user, change the owner of the directory, or choose another data directory.',
  )
}
