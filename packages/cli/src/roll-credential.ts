import { rollCredential } from '@svc/core/tenants/credentials'
import { asAdministrator } from './administrator.ts'
import { readHours } from './invitation-commands.ts'
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
  const rolled = await asAdministrator('key roll', (tx, { keyMaker }) =>
    rollCredential(tx, keyMaker, requested),
  )
  printRecord(toRecord(rolled), json)
}
