import { mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import {
  type Binaries,
  type BinariesChoice,
  copyNative,
  findBinaries,
  whyNotWritable,
  withLibraryLinks,
} from './embedded-binaries.ts'
import { clusterMajor, createCluster, refuseOtherMajor } from './embedded-cluster.ts'
import {
  giveTo,
  type Launcher,
  launchersFor,
  ownerOf,
  probe,
  type RootWay,
  refuseOthersCluster,
  rootWays,
} from './embedded-launch.ts'
import { lockFile } from './embedded-lock.ts'
import { readPostmaster } from './embedded-postmaster.ts'
import { adopt, adoptLiving, type Place, start, startTimeoutMs } from './embedded-start.ts'
import { keepUse, type Release, type Session } from './embedded-use.ts'

export { findSystemPostgres } from './embedded-binaries.ts'

/** Whether there is a cluster in the data directory already. */
export const hasCluster = (dataDir: string): boolean =>
  clusterMajor(path.join(dataDir, 'postgres')) !== undefined

export interface EmbeddedOptions {
  /** The cluster goes to `<dataDir>/postgres`, the server's log to `<dataDir>/postgres.log`. Made when missing. */
  dataDir: string
  /** Default: the npm package, else the system's newest PostgreSQL from 15. */
  binaries?: BinariesChoice
  /** More server settings, `name: value`; they win over ours and those of postgresql.conf. */
  settings?: Record<string, string>
  /** Called with a text for people about work that takes a while. */
  onProgress?: (message: string) => void
}

export interface EmbeddedServer {
  /** Directory of the Unix socket, for `pg`: `{ host, port, user: 'postgres', database: 'postgres' }`. */
  host: string
  port: number
  /** The server's version, for example '18.4'. */
  version: string
  /** Whether this call made the cluster, started the server, or found it running. */
  how: 'created' | 'started' | 'adopted'
  /** The server's process. */
  pid: number
  /** Stops the server and waits for its end, unless another open, here or in another process, still uses it. */
  release(): Promise<Release>
}

/** What only tests choose. */
export interface EmbeddedInternals {
  /** How root may run the server, best first. */
  ways?: readonly RootWay[]
  /** A directory that takes the place of the installed npm package. */
  packageDir?: string
}

/**
 * Opens the PostgreSQL server of a data directory: makes the cluster, starts the server or adopts the running
 * one, whichever is needed. The server is a process of its own and outlives this one. Any number of processes
 * may open the same directory; the last to release stops the server. Throws a plain Error that says what to do.
 */
export function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  return openEmbeddedWith(options, {})
}

/** As `openEmbedded`, with choices that are for tests. */
export async function openEmbeddedWith(
  options: EmbeddedOptions,
  internals: EmbeddedInternals,
): Promise<EmbeddedServer> {
  const place = preparePlace(options.dataDir)
  const running = await adopt(place)
  if (running) return serverOf(place, running, 'adopted')
  refuseUnwritable(place.dataDir)
  const unlock = await lockFile(path.join(place.dataDir, 'postgres.lock'), startTimeoutMs)
  try {
    return await adoptOrStart(place, options, internals)
  } finally {
    unlock()
  }
}

function preparePlace(wanted: string): Place {
  try {
    // Others may pass through, since the server's user may be another than the directory's; they may not look around.
    mkdirSync(wanted, { recursive: true, mode: 0o711 })
    const dataDir = realpathSync(wanted)
    const cluster = path.join(dataDir, 'postgres')
    refuseOthersCluster(cluster, ownerOf(cluster))
    return { dataDir, cluster, log: path.join(dataDir, 'postgres.log') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code ? unusable(wanted, code, error) : error
  }
}

function refuseUnwritable(dataDir: string): void {
  const code = whyNotWritable(dataDir)
  if (code) throw unusable(dataDir, code)
}

const unusable = (dataDir: string, code: string, cause?: unknown) =>
  new Error(
    `Cannot write to the data directory ${path.resolve(dataDir)} (${code}, as user ${process.getuid?.()}). ` +
      'Make it writable for this user, or choose another data directory.',
    { cause },
  )

function serverOf(place: Place, session: Session, how: EmbeddedServer['how']): EmbeddedServer {
  const { host, port, version, pid } = session
  const release = keepUse(() => readPostmaster(place.cluster), session)
  let released: Promise<Release> | undefined
  return {
    host,
    port,
    version,
    how,
    pid,
    release: () => {
      released ??= release()
      return released
    },
  }
}

/** Under the data directory's lock: no other process creates, starts or repairs now; others may be about to stop. */
async function adoptOrStart(
  place: Place,
  options: EmbeddedOptions,
  internals: EmbeddedInternals,
): Promise<EmbeddedServer> {
  const running = await adoptLiving(place)
  if (running) return serverOf(place, running, 'adopted')
  const report = options.onProgress ?? (() => {})
  const found = findBinaries(options.binaries, clusterMajor(place.cluster), internals.packageDir)
  refuseOtherMajor(place.cluster, found)
  const { launcher, binaries } = chooseWay(
    place,
    withLibraryLinks(found, place.dataDir, report),
    internals,
    report,
  )
  const isNew = clusterMajor(place.cluster) === undefined
  if (isNew) {
    report(`creating the database cluster in ${place.cluster} (PostgreSQL ${binaries.version})`)
    await createCluster(place.cluster, binaries, launcher)
  } else if (ownerOf(place.cluster)?.uid !== launcher.owner.uid) {
    report(`giving the files of ${place.cluster} to user ${launcher.owner.uid}`)
    giveTo(launcher.owner, place.cluster)
  }
  return serverOf(place, await start(place, binaries, launcher, options), isNew ? 'created' : 'started')
}

/** The first way to run the server that works here, with the programs where its user can reach them. */
function chooseWay(
  place: Place,
  binaries: Binaries,
  internals: EmbeddedInternals,
  report: (message: string) => void,
): { launcher: Launcher; binaries: Binaries } {
  const reasons: string[] = []
  for (const launcher of launchersFor(ownerOf(place.cluster), internals.ways ?? rootWays)) {
    const reach = probe(launcher, place.dataDir, path.join(binaries.binDir, 'postgres'))
    if (reach === 'ok') return { launcher, binaries }
    if (reach !== 'programs unreachable') reasons.push(reach.reason)
    else if (binaries.native) return { launcher, binaries: copyNative(binaries, place.dataDir, report) }
    else reasons.push(`${launcher.name} may not run the programs in ${binaries.binDir}`)
  }
  throw new Error(
    `PostgreSQL does not run as root, and there is no way to run it as another user here: ${reasons.join('; ')}. ` +
      'Run the service as an ordinary user, choose a data directory that others may pass through, ' +
      'or set DATABASE_URL to your own PostgreSQL.',
  )
}
