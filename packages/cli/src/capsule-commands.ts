import { access, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  CAPSULE_VERSION,
  type CapsuleExchange,
  type CapsuleManifest,
  capsuleSettings,
} from '@svc/app/capsule/capsule'
import { InvalidCapsule, readCapsule, writeCapsule } from '@svc/app/capsule/capsule-file'
import { newFolder, openPlace } from '@svc/app/capsule/capsule-place'
import { CapsuleWorld, type WorldOrigin } from '@svc/app/capsule/capsule-world'
import { newSeed, Recorder } from '@svc/app/capsule/record'
import { type Replayed, replay } from '@svc/app/capsule/replay'
import { keyProviderOf } from '@svc/app/key-provider'
import type { Config } from '@svc/contract/config'
import { openLog } from '@svc/platform/log'
import { VERSION } from '@svc/platform/package'
import { readSandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { asUsageError, backUp } from './backup-commands.ts'
import { runBeside } from './beside-sandbox.ts'
import { withOpened } from './context.ts'
import { printJson, printRecord } from './print.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { UsageError } from './usage-error.ts'

/** Ports after that of the sandbox which are tried while it is served. */
const PORTS_TRIED = 20

interface RecordOptions {
  readonly port?: string
  readonly json?: boolean
}

export function addCapsuleCommands(sandbox: Command): void {
  sandbox
    .command('record')
    .description('record requests and responses in one file that others can replay: a capsule')
    .argument('<file>', 'the capsule to write; must not be there yet')
    .argument('[command...]', 'a program that sends the requests; the recording ends with it')
    .option('--port <port>', 'port to listen on; by default that of the sandbox, or the next free one')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Runs the service on a copy of the sandbox as it is now, with the same credentials. Send the requests there; press Ctrl-C
to write the file. What they change is in the copy only. A program gets the address in SVC_BASE_URL, and a sandbox.json
in DATA_DIR.

The capsule contains everything in the sandbox, its master key included. Give it to people who may see that.

Examples:
  svc sandbox record bug.capsule
  svc sandbox record bug.capsule -- npm test
  svc sandbox replay bug.capsule`,
    )
    .action(record)
  sandbox
    .command('replay')
    .description('carry out the requests of a capsule again; exit code 1 at the first response that differs')
    .argument('<file>', 'the capsule')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Runs in a temporary folder with a database of its own, so the sandbox stays as it is. Status, headers and body of each
response are compared byte by byte.

Example:
  svc sandbox replay bug.capsule`,
    )
    .action(replayFile)
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

const warnings = () => openLog('warn', process.stderr)

async function record(name: string, command: readonly string[], options: RecordOptions): Promise<void> {
  const config = sandboxConfig()
  const file = resolve(name)
  if (await exists(file)) throw new UsageError(`${name} is there already. Choose another name.`)
  const folder = await newFolder()
  const snapshotFile = join(folder, 'snapshot.tar')
  const signals = holdSignals()
  try {
    const origin = await takeSnapshot(config, snapshotFile)
    const recorder = await listen(config, options, origin.startedAtMs)
    await recordWorld({ origin, folder, snapshotFile, recorder }, async () => {
      await untilEnd(config, { folder, port: recorder.port, command, file: name })
      if (command.length === 0) await signals.signalled
    })
    const manifest: CapsuleManifest = {
      format: 'svc-capsule',
      formatVersion: CAPSULE_VERSION,
      mode: 'sandbox',
      serviceVersion: VERSION,
      recordedAt: new Date(origin.startedAtMs).toISOString(),
      ...origin,
      rounds: recorder.rounds,
    }
    const bytes = await writeCapsule(file, manifest, snapshotFile, recorder.exchanges)
    printRecord({ file, requests: recorder.exchanges.length, bytes }, options.json ?? false)
  } catch (error) {
    throw asUsageError(name, error)
  } finally {
    signals.release()
    await rm(folder, { recursive: true, force: true })
  }
}

interface RecordedWorld {
  readonly origin: WorldOrigin
  readonly folder: string
  readonly snapshotFile: string
  readonly recorder: Recorder
}

/** Records for as long as the work lasts. */
async function recordWorld({ recorder, ...world }: RecordedWorld, work: () => Promise<void>): Promise<void> {
  try {
    await inWorld(world, async (opened) => {
      recorder.start(opened)
      try {
        await work()
      } finally {
        await recorder.stop()
      }
    })
  } finally {
    await recorder.stop()
  }
}

/** Opens the service on a snapshot, in a folder and a database of its own, and closes both after the work. */
async function inWorld<T>(
  { origin, folder, snapshotFile }: Omit<RecordedWorld, 'recorder'>,
  work: (world: CapsuleWorld) => Promise<T>,
): Promise<T> {
  const place = await openPlace(folder, origin.masterKeys, warnings())
  const { address } = place
  try {
    const world = await CapsuleWorld.open({
      origin,
      address,
      dataDir: folder,
      snapshotFile,
      log: warnings(),
    })
    try {
      return await work(world)
    } finally {
      await world.close()
    }
  } finally {
    await place.release()
  }
}

/** Writes the state of this instant to a file. */
async function takeSnapshot(config: Config, snapshotFile: string): Promise<WorldOrigin> {
  const demo = await readSandboxFile(config.DATA_DIR)
  if (!demo)
    throw new UsageError(`There is no sandbox.json in ${config.DATA_DIR}. Start the sandbox first: svc serve`)
  await withOpened('newest', (opened) => backUp(opened, snapshotFile))
  const keys = await keyProviderOf(config).masterKeys()
  return {
    // Tokens name who issued them, and those of the sandbox are to be accepted.
    baseUrl: config.PUBLIC_URL ?? demo.baseUrl,
    seed: newSeed(),
    startedAtMs: Date.now(),
    masterKeys: keys.map((key) => key.reveal()).join(','),
    settings: capsuleSettings(process.env),
  }
}

/** In the place of the sandbox, or beside it while it is served. */
async function listen(config: Config, { port }: RecordOptions, startedAtMs: number): Promise<Recorder> {
  const wanted = port === undefined ? config.PORT : Number(port)
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65_535)
    throw new UsageError('--port must be a number from 0 to 65535')
  const last = port === undefined && wanted > 0 ? wanted + PORTS_TRIED : wanted
  for (let tried = wanted; ; tried++) {
    try {
      return await Recorder.listen({ host: '127.0.0.1', port: tried, startedAtMs, onExchange: show })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (tried === last)
        throw new UsageError(`Port ${wanted} is in use. Give another one, such as: --port ${wanted + 1}`)
    }
  }
}

const show = ({ request, response }: CapsuleExchange): void =>
  void process.stderr.write(`${line(request)} ${response.status || 'no response'}\n`)

const line = ({ number, method, target }: CapsuleExchange['request']): string =>
  `${String(number).padStart(4)}  ${method} ${target}`

/**
 * Until `release`, Ctrl-C does not end the process, which has a database to stop and a folder to delete. It comes twice
 * under npm: from the terminal, and from npm.
 */
function holdSignals(): { readonly signalled: Promise<void>; release(): void } {
  const names = ['SIGINT', 'SIGTERM'] as const
  let end = (): void => undefined
  const signalled = new Promise<void>((resolve) => (end = resolve))
  for (const name of names) process.on(name, end)
  return {
    signalled,
    release() {
      for (const name of names) process.off(name, end)
    },
  }
}

interface Recording {
  readonly folder: string
  readonly port: number
  readonly command: readonly string[]
  readonly file: string
}

async function untilEnd(config: Config, { folder, port, command, file }: Recording): Promise<void> {
  const baseUrl = `http://localhost:${port}`
  const demo = await readSandboxFile(config.DATA_DIR)
  await writeFile(sandboxFile(folder), `${JSON.stringify({ ...demo, baseUrl }, null, 2)}\n`, { mode: 0o600 })
  process.stderr.write(`Recording at ${baseUrl}, on a copy of the sandbox, with the same credentials.\n`)
  if (command.length === 0)
    return void process.stderr.write(`Send the requests there. Press Ctrl-C to write ${file}.\n`)
  const code = await runBeside(command, { baseUrl, dataDir: folder, stdio: ['inherit', 2, 2] })
  process.stderr.write(`${command[0]} ended with ${code}.\n`)
}

async function replayFile(name: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  sandboxConfig()
  const folder = await newFolder()
  const snapshotFile = join(folder, 'snapshot.tar')
  const signals = holdSignals()
  const interrupted = signals.signalled.then(() => {
    throw new UsageError('The replay was interrupted.')
  })
  interrupted.catch(() => undefined)
  try {
    const capsule = await readCapsule(resolve(name), snapshotFile)
    const replayed = await inWorld({ origin: capsule.manifest, folder, snapshotFile }, (world) =>
      Promise.race([replay(capsule, world), interrupted]),
    )
    print(replayed, json)
  } catch (error) {
    if (error instanceof InvalidCapsule) throw new UsageError(`${name} cannot be replayed: ${error.message}.`)
    throw asUsageError(name, error)
  } finally {
    signals.release()
    await rm(folder, { recursive: true, force: true })
  }
}

function print({ same, total, notCompared, first }: Replayed, json: boolean): void {
  if (first) process.exitCode = 1
  const compared = total - notCompared.length
  if (json) {
    const { exchange, difference } = first ?? {}
    return printJson({
      same,
      compared,
      total,
      notCompared: notCompared.map(({ exchange: { request }, why }) => ({ request: request.number, why })),
      firstDifference: exchange
        ? {
            request: exchange.request.number,
            method: exchange.request.method,
            target: exchange.request.target,
            ...difference,
          }
        : null,
    })
  }
  for (const { exchange, why } of notCompared)
    process.stdout.write(`${line(exchange.request)}: not compared (${why})\n`)
  if (!first) return void process.stdout.write(`The same, ${same} of ${compared} byte for byte.\n`)
  const { what, recorded, replayed } = first.difference
  process.stdout.write(
    `${line(first.exchange.request)}: the ${what} differs, after ${same} responses that were the same.\n  recorded: ${recorded}\n  replayed: ${replayed}\n`,
  )
}
