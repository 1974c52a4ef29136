import { migrationNames, readMigration } from '@svc/platform/db/migration-files'
import { asSuperuser } from './service.ts'

/** Builds the schema of a test's database as it was before the newest migration. */
export async function withoutNewest(database: string): Promise<void> {
  const names = await migrationNames()
  await asSuperuser(database, async (admin) => {
    await admin.query(
      `begin; alter table migrations set schema public;
       drop schema svc cascade; create schema svc authorization svc_owner;
       grant usage on schema svc to svc_service, svc_operator;
       alter table public.migrations set schema svc;
       delete from migrations where name = '${names.at(-1)}'; set local role svc_owner; set local search_path = svc`,
    )
    // In one transaction, where no index is built concurrently.
    for (const name of names.slice(0, -1))
      await admin.query((await readMigration(name)).sql.replaceAll(' concurrently', ''))
    await admin.query('commit')
  })
}
