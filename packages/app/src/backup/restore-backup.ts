import { finished } from 'node:stream/promises'
import type { MasterKeys } from '@svc/platform/crypto/master-keys'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import { isBeforeBaseline } from '@svc/platform/db/migrate'
import { migrationNames } from '@svc/platform/db/migration-files'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { InvalidArchive, type Manifest } from './archive.ts'
import { quoted } from './catalogue.ts'
import { readRows, verifyBackup } from './read-backup.ts'
import { replaceData } from './replace-data.ts'
import type { Progress } from './write-backup.ts'

/** The archive is sound, and yet cannot be restored here. Its message is for people. */
export class RestoreRefused extends Error {
  override name = 'RestoreRefused'
}

export interface RestoreOptions {
  readonly address: DatabaseAddress
  readonly masterKeys: MasterKeys
  readonly file: string
  readonly replace: boolean
  /** Takes an archive that another master key signed: its origin is then unknown. */
  readonly unsigned?: boolean
  /** As of `Replacement`. */
  readonly keepsAccess?: boolean
  readonly onProgress?: (progress: Progress) => void
}

/** Verifies an archive from beginning to end, then puts it in the place of what the database holds. */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { address, masterKeys, file, replace, keepsAccess = false, onProgress } = options
  const { manifest, signed } = await verifyBackup(file, masterKeys)
  requireKeys(manifest, masterKeys)
  if (!signed && !options.unsigned)
    throw new RestoreRefused(
      'None of the keys in SVC_MASTER_KEY signed this backup, so its origin is unknown. Add the key that did, after a comma, or take it as it is with --unsigned.',
    )
  await requireKnownSchema(manifest)
  await replaceData({
    address,
    migrations: manifest.migrations,
    replace,
    keepsAccess,
    fill: (client) => copyIn(client, file, manifest, onProgress),
  })
  return manifest
}

/** Without these the service would not even start on the restored data. */
function requireKeys({ masterKeys: needed }: Manifest, masterKeys: MasterKeys): void {
  const missing = needed.filter((id) => !masterKeys.ids.includes(id))
  if (missing.length === 0) return
  throw new RestoreRefused(
    `The keys in this backup were wrapped by master key ${missing.join(' and ')}, which is not in it and never was. SVC_MASTER_KEY (in a sandbox: DATA_DIR/master.key) holds ${masterKeys.ids.join(', ')}. Add the other one, after a comma. Nothing was changed.`,
  )
}

async function requireKnownSchema({ migrations, serviceVersion }: Manifest): Promise<void> {
  const all = await migrationNames()
  if (isBeforeBaseline(migrations, all))
    throw new RestoreRefused(
      `This backup has the schema of an unreleased version, svc ${serviceVersion}, and only that version can restore it. Nothing was changed.`,
    )
  const newer = migrations.filter((name) => !all.includes(name))
  if (newer.length > 0)
    throw new RestoreRefused(
      `This backup has a newer schema (${newer.join(', ')}), written by svc ${serviceVersion}. Use that version or a later one. Nothing was changed.`,
    )
}

/** Those of the backup that the migrations have not created. */
async function addPartitions(client: pg.Client, table: string, firstDays: readonly string[]): Promise<void> {
  await client.query(
    `select add_partition($1, day) from unnest($2::date[]) day where to_regclass(partition_name($1, day)) is null`,
    [table, firstDays],
  )
}

async function copyIn(
  client: pg.Client,
  file: string,
  manifest: Manifest,
  onProgress: RestoreOptions['onProgress'],
): Promise<void> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]))
  const rows = new Map<string, number>()
  let bytes = 0
  for (const { name, partitions = [] } of manifest.tables) await addPartitions(client, name, partitions)
  await readRows(file, manifest, async (name, text) => {
    const columns = tables.get(name)!.columns.map(quoted).join(', ')
    const stream = client.query(copyFrom(`copy ${quoted(name)} (${columns}) from stdin`))
    stream.end(text)
    await finished(stream)
    rows.set(name, (rows.get(name) ?? 0) + stream.rowCount)
    bytes += text.length
    onProgress?.({ table: name, bytes })
  })
  for (const { name, rows: wanted } of manifest.tables)
    if ((rows.get(name) ?? 0) !== wanted)
      throw new InvalidArchive(`table ${name} has ${rows.get(name) ?? 0} rows in place of ${wanted}`)
  for (const { name, value, called } of manifest.sequences)
    await client.query('select setval($1::regclass, $2, $3)', [`svc.${quoted(name)}`, value, called])
}
