import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidArchive, type Manifest } from '@svc/app/backup/archive'
import { verifyBackup } from '@svc/app/backup/read-backup'
import { NotEmpty } from '@svc/app/backup/replace-data'
import { RestoreRefused, restoreBackup } from '@svc/app/backup/restore-backup'
import { type Progress, writeBackup } from '@svc/app/backup/write-backup'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { requireOperatorUrl } from '@svc/contract/config'
import { sqlState } from '@svc/platform/db/database'
import { openLog } from '@svc/platform/log'
import { VERSION } from '@svc/platform/package'
import { type Command, Option } from 'commander'
import { type OpenedInstallation, openDatabase, withOpened } from './context.ts'
import { printJson, printRecord } from './print.ts'
import { printReconciliation } from './print-reconciliation.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const KEY_WARNING = `
The master key is NOT in a backup. Card numbers, secrets and signing keys in it are encrypted, and
useless without the master key. Keep SVC_MASTER_KEY (in a sandbox: DATA_DIR/master.key) in a secret store, apart from
the backups, for as long as you keep these; keep previous keys, too.`

export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .argument('[file]', 'where to write it; must not be there yet')
    .description('write all data to one file, as it is at this instant, while the service runs')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${KEY_WARNING}

The file is a tar of compressed tables with a manifest and a signature; only its owner may read it. Everything that was
acknowledged before the command began is in it. No request waits for it.

Examples:
  svc admin backup backups/$(date +%F).tar
  svc admin backup verify backups/2026-04-01.tar
  svc admin restore backups/2026-04-01.tar`,
    )
    .action(async (file: string | undefined, options: Json) => {
      if (file === undefined)
        throw new UsageError('Give the file to write, such as: svc admin backup today.tar')
      await save(file, options)
    })
  backup
    .command('verify <file>')
    .description('read every byte of a backup; exit code 1 if one is not as it was written')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin backup verify today.tar')
    // `backup` has the option too, and takes it wherever it stands.
    .action((name: string, _: Json, command: Command) => verify(name, command.optsWithGlobals()))
  program
    .command('restore <file>')
    .description(
      'put a backup in the place of what the database holds; all of it or, if anything fails, nothing',
    )
    .option('--replace', 'although the database holds data, which is then lost')
    .addOption(new Option('--unsigned', 'although a master key signed it that is not in SVC_MASTER_KEY'))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${KEY_WARNING}

The backup is verified first. It is filled into a schema beside the one in use, which is dropped for it at the very end:
a restore that is killed leaves what was there. A backup of an older schema is migrated, one of a newer is refused. Then
the books are proved, as by svc admin reconcile. A running service notices and begins again on the restored data; tokens, sessions,
links and recovery codes from before are refused. In live mode it needs DATABASE_OWNER_URL and DATABASE_OPERATOR_URL.

Examples:
  svc admin restore today.tar
  svc admin restore today.tar --replace`,
    )
    .action(restore)
}

/** An error that the caller can resolve, as a usage error that says what became of the data; others as they are. */
export function asUsageError(file: string, error: unknown): unknown {
  if (error instanceof InvalidArchive)
    return new UsageError(`${file} cannot be used: ${error.message}. Nothing was changed.`)
  if (error instanceof RestoreRefused) return new UsageError(error.message)
  if (error instanceof NotEmpty)
    return new UsageError(`${error.message}. With --replace the backup takes their place, and they are lost.`)
  if (sqlState(error) === '42501')
    return new UsageError(
      `The database login may not do this (${(error as Error).message}). Set DATABASE_OWNER_URL to the login that runs migrations.`,
    )
  const { code, path } = error as NodeJS.ErrnoException
  if (['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS'].includes(code ?? ''))
    return new UsageError(`Cannot use ${path ?? file} (${code}).`)
  return error
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** One line of a terminal that is written again; nothing where the output is not a terminal. */
export function progressLine(verb: string): { show: (progress: Progress) => void; end: () => void } {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined }
  return {
    show: ({ table, bytes }) => process.stderr.write(`\r\x1b[K${verb} ${table}, ${megabytes(bytes)} so far`),
    end: () => process.stderr.write('\r\x1b[K'),
  }
}

export const sizeOf = ({ tables }: Manifest) => ({
  tables: tables.length,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  bytes: tables.reduce((sum, { chunks }) => sum + chunks.reduce((all, { bytes }) => all + bytes, 0), 0),
})

async function save(name: string, { json = false }: Json): Promise<void> {
  const file = resolve(name)
  if (await exists(file)) throw new UsageError(`${name} is there already. Choose another name.`)
  const manifest = await withOpened('as it is', ({ address, masterKeys }) =>
    backUp({ address, masterKeys }, file),
  )
  printRecord({ file, ...factsOf(manifest) }, json)
  if (!json) process.stderr.write(`${KEY_WARNING.trim()}\n`)
}

/** Writes a backup with a line of progress. */
export async function backUp(
  { address, masterKeys }: Pick<OpenedInstallation, 'address' | 'masterKeys'>,
  file: string,
): Promise<Manifest> {
  const line = progressLine('Writing')
  try {
    return await writeBackup({ address, masterKeys, file, serviceVersion: VERSION, onProgress: line.show })
  } catch (error) {
    throw asUsageError(file, error)
  } finally {
    line.end()
  }
}

const factsOf = (manifest: Manifest) => ({
  createdAt: manifest.createdAt,
  serviceVersion: manifest.serviceVersion,
  postgres: manifest.postgres,
  schema: manifest.migrations.at(-1),
  masterKeys: manifest.masterKeys.join(' '),
  ...sizeOf(manifest),
})

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

async function verify(name: string, { json = false }: Json): Promise<void> {
  const { manifest, signed } = await withOpened('as it is', ({ masterKeys }) =>
    verifyBackup(resolve(name), masterKeys),
  ).catch((error: unknown) => {
    throw error instanceof InvalidArchive
      ? new UsageError(`${name} is not sound: ${error.message}`)
      : asUsageError(name, error)
  })
  printRecord({ file: resolve(name), sound: true, signedByUs: signed, ...factsOf(manifest) }, json)
}

interface RestoreOptions extends Json {
  readonly replace?: boolean
  readonly unsigned?: boolean
}

async function restore(
  name: string,
  { replace = false, unsigned = false, json }: RestoreOptions,
): Promise<void> {
  const file = resolve(name)
  await withOpened('newest', async (opened) => {
    requireOperatorUrl(opened.config, 'to reconcile the restored data')
    const manifest = await fromBackup(opened, file, { replace, unsigned })
    const books = await proveBooks(opened)
    if (json) printJson({ file, ...factsOf(manifest), reconciliation: books })
    else {
      printRecord({ file, ...factsOf(manifest) }, false)
      printReconciliation(books)
    }
    if (!books.ok) process.exitCode = 1
  })
}

/** Restores with a line of progress. */
export async function fromBackup(
  { address, masterKeys }: OpenedInstallation,
  file: string,
  options: { readonly replace: boolean; readonly unsigned: boolean },
): Promise<Manifest> {
  const line = progressLine('Restoring')
  try {
    return await restoreBackup({ address, masterKeys, file, ...options, onProgress: line.show })
  } catch (error) {
    throw asUsageError(file, error)
  } finally {
    line.end()
  }
}

async function proveBooks({ config, address }: OpenedInstallation) {
  const database = openDatabase(config, address, openLog('warn', process.stderr))
  try {
    return await reconcileAll(database)
  } finally {
    await database.close()
  }
}
