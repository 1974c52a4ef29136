import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { replaceData } from '@svc/app/backup/replace-data'
import type { Config } from '@svc/contract/config'
import { isServed } from '@svc/server/sandbox/running-sandbox'
import { readSandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { asUsageError, backUp, fromBackup, sizeOf } from './backup-commands.ts'
import { addCapsuleCommands } from './capsule-commands.ts'
import { withOpened } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { addSandboxCardCommand } from './sandbox-card-command.ts'
import { addSandboxClockCommands } from './sandbox-clock.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { addSandboxExecCommand } from './sandbox-exec.ts'
import { addSandboxTransferCommand } from './sandbox-transfer-command.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const ENDING = '.tar'
/** How long a running service may take to begin again on other data, in milliseconds. */
const SERVED_WITHIN_MS = 30_000

export function addSandboxCommands(program: Command): void {
  const sandbox = program
    .command('sandbox')
    .description(
      'run a program beside a new sandbox, reset the sandbox, save and load its states, move time, play the card network and the bank, or record requests',
    )
  addSandboxExecCommand(sandbox)
  sandbox
    .command('reset')
    .description('throw all data of the sandbox away and begin with fresh demo tenants; the service may run')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nAll tenants, keys, tokens, cards and events go. Snapshots stay. sandbox.json gets new credentials.\n\nExample:\n  svc sandbox reset',
    )
    .action(reset)
  addSandboxClockCommands(sandbox)
  addSandboxCardCommand(sandbox)
  addSandboxTransferCommand(sandbox)
  addCapsuleCommands(sandbox)
  const snapshot = sandbox
    .command('snapshot')
    .description('states of the sandbox, kept under a name in DATA_DIR/snapshots; the service may run')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox snapshot save before-demo\n  svc sandbox snapshot load before-demo\n  svc sandbox snapshot list',
    )
  snapshot
    .command('save <name>')
    .description('keep the state of this instant')
    .option('--json', 'print JSON')
    .action(saveSnapshot)
  snapshot
    .command('load <name>')
    .description('go back to a state; what happened since is lost, and tokens from before are refused')
    .option('--json', 'print JSON')
    .action(loadSnapshot)
  snapshot
    .command('list')
    .description('list the states, the newest first')
    .option('--json', 'print JSON')
    .action(listSnapshots)
  snapshot.command('delete <name>').description('delete a state').action(deleteSnapshot)
}

const folderOf = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'snapshots')

function fileOf(config: Config, name: string): string {
  if (!NAME.test(name))
    throw new UsageError(
      'A name is 1 to 64 letters, digits, dots, dashes and underscores, such as before-demo.',
    )
  return join(folderOf(config), `${name}${ENDING}`)
}

async function requireFile(config: Config, name: string): Promise<string> {
  const file = fileOf(config, name)
  await stat(file).catch(() => {
    throw new UsageError(`There is no snapshot ${name}. See them all with: svc sandbox snapshot list`)
  })
  return file
}

async function reset({ json = false }: Json): Promise<void> {
  const config = sandboxConfig()
  const served = await servedAgain(config, () =>
    withOpened('newest', ({ address }) => replaceData({ address, replace: true })),
  ).catch((error: unknown) => {
    throw asUsageError('the sandbox', error)
  })
  printRecord(
    {
      state: 'fresh',
      demoTenants: served ? 'made again' : 'made at the next start: svc serve',
      sandboxFile: sandboxFile(config.DATA_DIR),
    },
    json,
  )
}

async function saveSnapshot(name: string, { json = false }: Json): Promise<void> {
  const config = sandboxConfig()
  const file = fileOf(config, name)
  await mkdir(folderOf(config), { recursive: true, mode: 0o700 })
  if (await stat(file).catch(() => undefined))
    throw new UsageError(
      `There is a snapshot ${name} already. Delete it first: svc sandbox snapshot delete ${name}`,
    )
  const manifest = await withOpened('as it is', (opened) => backUp(opened, file))
  printRecord({ name, createdAt: manifest.createdAt, ...sizeOf(manifest), file }, json)
}

async function loadSnapshot(name: string, { json = false }: Json): Promise<void> {
  const config = sandboxConfig()
  const file = await requireFile(config, name)
  const served = await servedAgain(config, () =>
    withOpened('newest', (opened) => fromBackup(opened, file, { replace: true, unsigned: false })),
  )
  printRecord({ name, state: 'loaded', service: served ? 'runs on it' : 'is not running' }, json)
}

async function listSnapshots({ json = false }: Json): Promise<void> {
  const config = sandboxConfig()
  const files = await readdir(folderOf(config)).catch(() => [] as string[])
  const names = files.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length))
  const rows = await Promise.all(
    names.map(async (name) => {
      const { mtime, size } = await stat(fileOf(config, name))
      return { name, savedAt: mtime, bytes: size }
    }),
  )
  printRows(
    rows.sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime()),
    json,
  )
}

async function deleteSnapshot(name: string): Promise<void> {
  await rm(await requireFile(sandboxConfig(), name))
  process.stdout.write(`Deleted ${name}.\n`)
}

/**
 * Puts other data in place. A service that runs on it notices and begins again; it has done so when it has written
 * `sandbox.json` again. Returns whether there is one.
 */
async function servedAgain({ DATA_DIR }: Config, replaceAll: () => Promise<unknown>): Promise<boolean> {
  const written = () =>
    stat(sandboxFile(DATA_DIR)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
  const before = await written()
  const previous = await readSandboxFile(DATA_DIR)
  const runs = previous !== undefined && (await isServed(previous))
  await replaceAll()
  if (!runs) return false
  for (const end = Date.now() + SERVED_WITHIN_MS; (await written()) === before; await sleep(50))
    if (Date.now() > end)
      throw new UsageError(
        'The data was replaced, but the running service has not reloaded it. Check its log, then restart it.',
      )
  return true
}
