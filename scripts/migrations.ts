// Refuses migrations that would stop the service, or the version that runs beside them: `npm run check -- migrations`.
import { migrationNames, readMigration } from '@svc/platform/db/migration-files'
import { problemsOf } from './migration-rules.ts'

for (const name of await migrationNames())
  for (const problem of await problemsOf(await readMigration(name))) {
    console.error(`migrations/${name}.sql: ${problem}`)
    process.exitCode = 1
  }
