import { storeOwnersSettings } from '@svc/app/owners-settings'
import { migrate, migrationStates } from '@svc/platform/db/migrate'
import { type Run, readMigration } from '@svc/platform/db/migration-files'
import type { Command } from 'commander'
import { withAddress, withOpened } from './context.ts'
import { printJson, printRows } from './print.ts'

interface Options {
  readonly status?: true
  readonly dryRun?: true
  readonly to?: string
  readonly json?: boolean
}

const RUNS: Readonly<Record<Run, string>> = {
  transaction: 'in one transaction',
  statements: 'statement by statement',
  batches: 'in batches',
}

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema while the service runs (serve does it too)')
    .option('--status', 'list the migrations and which of them the database has')
    .option('--dry-run', 'print the SQL of those that are missing, and change nothing')
    .option('--to <name>', 'stop after this migration')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  DATABASE_URL=postgresql://… DATABASE_OWNER_URL=postgresql://… svc admin migrate\n  svc admin migrate --status',
    )
    .action(async ({ status, dryRun, to, json = false }: Options) => {
      if (status) await printStatus(json)
      else if (dryRun) await printPending(to, json)
      else await run(to, json)
    })
}

/** Migrates and touches nothing else: the service's role may not even be granted to anyone yet. */
async function run(to: string | undefined, json: boolean): Promise<void> {
  const names = await withOpened('as it is', async ({ address, config }) => {
    const ran = await migrate(address, to === undefined ? {} : { to })
    // The one who may loosen the limit of one person (decision R10), and change what fees are checked by.
    if (to === undefined) await storeOwnersSettings(address, config)
    return ran
  })
  if (json) printJson({ ok: true, migrations: names })
  else process.stdout.write([...names.map((name) => `Ran ${name}.`), upToDate(to)].join('\n'))
}

const upToDate = (to: string | undefined) =>
  to === undefined ? 'The schema is up to date.\n' : `The schema is at ${to}.\n`

async function printStatus(json: boolean): Promise<void> {
  const states = await withAddress(({ address }) => migrationStates(address))
  printRows(
    states.map(({ name, run, isDone }) => ({
      migration: name,
      runs: RUNS[run],
      state: isDone ? 'done' : 'missing',
    })),
    json,
  )
}

async function printPending(to: string | undefined, json: boolean): Promise<void> {
  const states = await withAddress(({ address }) => migrationStates(address))
  const missing = states.filter(({ name, isDone }) => !isDone && (to === undefined || name <= to))
  const files = await Promise.all(missing.map(({ name }) => readMigration(name)))
  if (json) printJson(files)
  else if (files.length === 0) process.stdout.write('The schema is up to date.\n')
  else for (const { name, run, sql } of files) process.stdout.write(`-- ${name}, ${RUNS[run]}\n${sql}\n`)
}
