import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Binaries } from './embedded-binaries.ts'
import { chooseSocketDir, lastLines, serverPort, socketDirProblem } from './embedded-cluster.ts'
import { type Launcher, ownerOf } from './embedded-launch.ts'
import { clearStaleLocks, readPostmaster, serves } from './embedded-postmaster.ts'
import { type Session, takeUse } from './embedded-use.ts'

/** Creation, recovery after a crash, and waiting for another process that does either. */
export const startTimeoutMs = 300_000
/** How long to try again after a crash while sessions of the dead server finish. */
const lingerTimeoutMs = 10_000
const pollMs = 10
const logBytesMax = 16 * 1024 * 1024

/** Anybody else's values stay out of the log: no statements, no details of rows. */
const settingsAlways = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  jit: 'off',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

/** The part of the options that starting needs. */
export interface StartOptions {
  settings?: Record<string, string>
  onProgress?: (message: string) => void
}

/** A data directory's real path, and what is in it. */
export interface Place {
  dataDir: string
  cluster: string
  log: string
}

/** A session that marks the running server as used; undefined when none can be had, and then perhaps none runs. */
export async function adopt({ cluster }: Place): Promise<Session | undefined> {
  const at = readPostmaster(cluster)
  if (!at || (at.socketDir !== cluster && !isTrusted(at.socketDir, cluster))) return undefined
  return takeUse(at)
}

/** After a reboot another user could have made the temporary directory that an old `postmaster.pid` names. */
function isTrusted(socketDir: string, cluster: string): boolean {
  const owner = ownerOf(cluster)
  return owner !== undefined && socketDirProblem(socketDir, owner) === undefined
}

/** Adopts the running server, or waits for its end when it is ending. */
export async function adoptLiving(place: Place): Promise<Session | undefined> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    const session = await adopt(place)
    if (session) return session
    const at = readPostmaster(place.cluster)
    if (!at || !serves(at.pid, place.cluster)) return undefined
    if (performance.now() > deadline) throw noResponse(at.pid, place)
    await sleep(pollMs)
  }
}

const noResponse = (pid: number, { log }: Place) =>
  new Error(
    `The database server (process ${pid}) runs but has not accepted a connection for ${startTimeoutMs / 1000} s. ` +
      `If its log, ${log}, shows progress, wait and start again; if not, stop it with \`kill -INT ${pid}\`.`,
  )

/** Starts the server and waits until it serves. After a crash the first attempts may meet the dead server's sessions. */
export async function start(
  place: Place,
  binaries: Binaries,
  launcher: Launcher,
  options: StartOptions,
): Promise<Session> {
  const socketDir = chooseSocketDir(place.cluster, launcher)
  const unclean = clearStaleLocks(place.cluster, socketDir)
  options.onProgress?.(`starting the database server${unclean ? ', which was not stopped cleanly' : ''}`)
  const settings = Object.entries({ ...settingsAlways, ...options.settings })
  const args = ['-D', place.cluster, '-k', socketDir, '-p', String(serverPort)]
  const program = launcher.wrap(path.join(binaries.binDir, 'postgres'), [
    ...args,
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  const log = openLog(place.log, launcher)
  const giveUpAt = performance.now() + (unclean ? lingerTimeoutMs : 0)
  try {
    for (;;) {
      const stdio: ['ignore', number, number] = ['ignore', log.fd, log.fd]
      const child = spawn(program.command, program.args, { ...program.options, detached: true, stdio })
      const outcome = await servesOrExits(place, child)
      if (typeof outcome !== 'string') return outcome
      if (performance.now() > giveUpAt) throw didNotStart(place, log.offset, outcome)
      await sleep(100)
    }
  } finally {
    closeSync(log.fd)
  }
}

/** Opens the log for appending. One that has grown large is put aside first, and an older one goes. */
function openLog(file: string, launcher: Launcher): { fd: number; offset: number } {
  if (existsSync(file) && statSync(file).size > logBytesMax) renameSync(file, `${file}.1`)
  const fd = openSync(file, 'a', 0o600)
  if (process.getuid?.() === 0) chownSync(file, launcher.owner.uid, launcher.owner.gid)
  return { fd, offset: statSync(file).size }
}

/** A session on the server that `child` is, or how it exited. */
async function servesOrExits(place: Place, child: ChildProcess): Promise<Session | string> {
  let exited: string | undefined
  child.once('error', (error) => (exited = error.message))
  child.once('exit', (code, signal) => (exited ??= `exit ${code ?? signal}`))
  child.unref()
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    await sleep(pollMs)
    const session = await adopt(place)
    if (session) return session
    if (exited !== undefined) return exited
    if (performance.now() > deadline) throw noResponse(child.pid ?? 0, place)
  }
}

function didNotStart({ log, cluster }: Place, offset: number, outcome: string): Error {
  const said = lastLines(readFileSync(log).subarray(offset).toString())
  return new Error(
    `The database server of ${cluster} did not start (${outcome}). Remove the cause and start again. ` +
      `Its log, ${log}, ends:\n${said}`,
  )
}
