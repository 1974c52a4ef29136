// Refuses migrations that would stop the service, or the version that runs beside them: `npm run check -- migrations`.
import { migrationNames, readMigration } from '@svc/platform/db/migration-files'
import { faultsOf } from './migration-rules.ts'

for (const name of await migrationNames())
  for (const fault of await faultsOf(await readMigration(name))) {
    console.error(`migrations/${name}.sql: ${fault}`)
    process.exitCode = 1
  }
