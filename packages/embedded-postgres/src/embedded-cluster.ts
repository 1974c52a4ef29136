import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Binaries, majorOf } from './embedded-binaries.ts'
import { type Launcher, type Owner, probe } from './embedded-launch.ts'

/** sun_path in <sys/un.h> holds 108 bytes on Linux and 104 on macOS, one of them the final zero. */
const socketPathBytesMax = process.platform === 'linux' ? 107 : 103
const unfinishedPrefix = 'postgres.unfinished-'
export const serverPort = 5432

/** The major version that made the cluster, undefined when there is no cluster yet. */
export function clusterMajor(cluster: string): number | undefined {
  const file = path.join(cluster, 'PG_VERSION')
  return existsSync(file) ? majorOf(readFileSync(file, 'utf8')) : undefined
}

/** Throws when the programs cannot open the cluster because another major version of PostgreSQL made it. */
export function refuseOtherMajor(cluster: string, binaries: Binaries): void {
  const major = clusterMajor(cluster)
  if (major === undefined || major === majorOf(binaries.version)) return
  throw new Error(
    `The database cluster in ${cluster} was made by PostgreSQL ${major}, and the programs in ${binaries.binDir} are ` +
      `PostgreSQL ${binaries.version}, which cannot open it. Either run with PostgreSQL ${major}; or start it once more ` +
      `with PostgreSQL ${major}, save its content with pg_dumpall and load that into a new data directory; or move ` +
      `${cluster} away to begin with an empty database.`,
  )
}

/**
 * Creates the cluster. initdb works in a directory beside the final one, which appears by a rename: whenever
 * this is interrupted there is either no cluster or a whole one.
 */
export async function createCluster(cluster: string, binaries: Binaries, launcher: Launcher): Promise<void> {
  const dataDir = path.dirname(cluster)
  if (existsSync(cluster) && readdirSync(cluster).length > 0) {
    throw new Error(
      `${cluster} is not empty and holds no PostgreSQL cluster. Move it away, then start again.`,
    )
  }
  for (const left of readdirSync(dataDir).filter((name) => name.startsWith(unfinishedPrefix)))
    rmSync(path.join(dataDir, left), { recursive: true, force: true, maxRetries: 5 })
  const unfinished = mkdtempSync(path.join(dataDir, unfinishedPrefix))
  try {
    chownSync(unfinished, launcher.owner.uid, launcher.owner.gid)
    await initdb(unfinished, binaries, launcher)
    renameSync(unfinished, cluster)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 })
    throw error
  }
  syncDirectory(dataDir)
}

async function initdb(dir: string, binaries: Binaries, launcher: Launcher): Promise<void> {
  const flags = '-U postgres -A trust -E UTF8 --no-locale --data-checksums --no-instructions'.split(' ')
  const program = path.join(binaries.binDir, 'initdb')
  const { command, args, options } = launcher.wrap(program, ['-D', dir, ...flags])
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const keepTail = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000)
  }
  child.stdout?.on('data', keepTail)
  child.stderr?.on('data', keepTail)
  const outcome = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `exit ${code ?? signal}`))
  })
  if (outcome === undefined) return
  throw new Error(
    `Creating the database cluster in ${path.dirname(dir)} failed (${outcome}, ${program}). ` +
      `Remove the cause, then start again; or set DATABASE_URL to your own PostgreSQL. initdb said:\n${lastLines(output)}`,
  )
}

/** A rename is durable only when the directory is. */
function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export const lastLines = (text: string, count = 15): string =>
  text.trim().split('\n').slice(-count).join('\n')

const fitsSocketPath = (dir: string) =>
  Buffer.byteLength(path.join(dir, `.s.PGSQL.${serverPort}`)) <= socketPathBytesMax

/** The server's option that names the directory is a list with commas and quotes. */
const survivesList = (dir: string) => !/[,"]|\s$/.test(dir)

/** The directory for the server's socket: the cluster's own, or a short one where that path would be too long. */
export function chooseSocketDir(cluster: string, launcher: Launcher): string {
  if (fitsSocketPath(cluster) && survivesList(cluster)) return cluster
  const name = `svc-pg-${createHash('sha256').update(`${launcher.owner.uid}:${cluster}`).digest('hex').slice(0, 16)}`
  for (const parent of [tmpdir(), '/tmp']) {
    const dir = path.join(parent, name)
    if (!fitsSocketPath(dir) || !survivesList(dir) || probe(launcher, parent, '/bin/sh') !== 'ok') continue
    if (!existsSync(dir)) {
      mkdirSync(dir, { mode: 0o700 })
      chownSync(dir, launcher.owner.uid, launcher.owner.gid)
    }
    const problem = socketDirProblem(dir, launcher.owner)
    if (problem)
      throw new Error(
        `${problem} Remove it, or choose a shorter data directory than ${path.dirname(cluster)}.`,
      )
    return dir
  }
  throw new Error(
    `The data directory's path is too long for a Unix socket, and no temporary directory will do: ${cluster}.`,
  )
}

/** What is wrong with a socket directory, if anything: in a public place another user could have created it first. */
export function socketDirProblem(dir: string, owner: Owner): string | undefined {
  const stat = lstatSync(dir, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return `The directory for the database's socket, ${dir}, is not a directory.`
  if (stat.uid === owner.uid && (stat.mode & 0o022) === 0) return undefined
  return `The directory for the database's socket, ${dir}, belongs to user ${stat.uid} or others may write in it.`
}
