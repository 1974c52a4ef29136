import { rollCredential } from '@svc/core/tenants/credentials'
import { withInstallation } from './context.ts'
import { readHours, refused } from './invitation-commands.ts'
import { printRecord } from './print.ts'

export interface RollOptions {
  readonly hours: string
  readonly json?: boolean
}

type Rolled = Awaited<ReturnType<typeof rollCredential>>

/** Replaces a credential of a tenant, and prints the new one, the only time that it can be seen. */
export async function roll(
  wanted: { readonly tenantId: string; readonly credentialId: string },
  { hours, json = false }: RollOptions,
  toRecord: (rolled: Rolled) => Parameters<typeof printRecord>[0],
): Promise<void> {
  const requested = { ...wanted, hours: readHours(hours) }
  const rolled = await refused(
    withInstallation(({ database, keyMaker }) =>
      database.operate((tx) => rollCredential(tx, keyMaker, requested)),
    ),
  )
  printRecord(toRecord(rolled), json)
}
