import { shownSecret } from '@svc/console-api/faces/sandbox-secret'
import { rollCredential } from '@svc/core/tenants/credentials'
import { asAdministrator } from './administrator.ts'
import { readHours } from './invitation-commands.ts'
import type { ShownCredential } from './limit-credential.ts'
import { printRecord } from './print.ts'

export interface RollOptions {
  readonly hours: string
  readonly json?: boolean
}

type Result = Awaited<ReturnType<typeof rollCredential>>
interface Rolled extends Pick<Result, 'replaced'> {
  readonly issued: ShownCredential
}

/** Replaces a credential of a tenant, and prints the new one, the only time that it can be seen. */
export async function roll(
  wanted: { readonly tenantId: string; readonly credentialId: string },
  { hours, json = false }: RollOptions,
  toRecord: (rolled: Rolled) => Parameters<typeof printRecord>[0],
): Promise<void> {
  const requested = { ...wanted, hours: readHours(hours) }
  const rolled = await asAdministrator('key roll', async (tx, { config, keyMaker }) => {
    const { issued, replaced } = await rollCredential(tx, keyMaker, requested)
    return { issued: { ...issued, secret: shownSecret(issued.secret, config) }, replaced }
  })
  printRecord(toRecord(rolled), json)
}
