import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capsuleSettings } from '@svc/app/capsule/capsule'
import { SETTINGS } from '@svc/contract/config'
import { PACKAGE_ROOT } from '@svc/platform/package'
import { readSandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { runBeside } from './beside-sandbox.ts'
import { UsageError } from './usage-error.ts'

const POLL_MS = 25

export function addSandboxExecCommand(sandbox: Command): void {
  sandbox
    .command('exec')
    .description('run a program beside a new sandbox, which is removed when the program ends')
    .argument('<program...>', 'the program and its arguments, after --')
    .addHelpText(
      'after',
      `
The program gets the address of the sandbox in SVC_BASE_URL, and its sandbox.json in DATA_DIR. The exit code is that of
the program. The sandbox has a free port and a database of its own: several run side by side.

Examples:
  svc sandbox exec -- npm test
  TOKEN_TTL_SECONDS=60 svc sandbox exec -- pytest -x`,
    )
    .action(exec)
}

async function exec(program: readonly string[]): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-sandbox-'))
  // Ctrl-C is for the program, which gets it too; then the sandbox is removed.
  const held = () => undefined
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, held)
  try {
    const server = await start(dataDir)
    try {
      const baseUrl = await untilReady(server, dataDir)
      process.exitCode = await runBeside(program, { baseUrl, dataDir, stdio: 'inherit' })
    } finally {
      await end(server)
    }
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, held)
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
  }
}

const logOf = (dataDir: string): string => join(dataDir, 'sandbox.log')

/** By its name, or by that of a file with a secret. */
const isSetting = (name: string): boolean =>
  [name, name.replace(/_FILE$/, '')].some((each) => Object.hasOwn(SETTINGS, each))

/** A service in a process group of its own, which Ctrl-C does not end, with the settings given but those of a place. */
async function start(dataDir: string): Promise<ChildProcess> {
  const outside = Object.entries(process.env).filter(([name]) => !isSetting(name))
  const place = { SVC_MODE: 'sandbox', HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const env = { ...Object.fromEntries(outside), ...capsuleSettings(process.env), ...place }
  const log = await open(logOf(dataDir), 'w')
  try {
    const args = [join(PACKAGE_ROOT, 'bin/svc.mjs'), 'serve']
    return spawn(process.execPath, args, { env, stdio: ['ignore', log.fd, log.fd], detached: true })
  } finally {
    await log.close()
  }
}

/** Where the sandbox listens, once its demo tenants are there and it serves. */
async function untilReady(server: ChildProcess, dataDir: string): Promise<string> {
  for (;;) {
    if (server.exitCode !== null || server.signalCode !== null)
      throw new UsageError(`The sandbox did not start:\n${(await readFile(logOf(dataDir), 'utf8')).trim()}`)
    const baseUrl = (await readSandboxFile(dataDir))?.baseUrl
    if (baseUrl !== undefined && (await isReady(baseUrl))) return baseUrl
    await sleep(POLL_MS)
  }
}

const isReady = (baseUrl: string): Promise<boolean> =>
  fetch(`${baseUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}
