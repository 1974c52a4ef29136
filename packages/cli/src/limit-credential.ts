import { shownSecret } from '@svc/console-api/faces/sandbox-secret'
import { readLimits } from '@svc/core/tenants/credential-limits'
import {
  type Credential,
  type IssuedCredential,
  issueCredential,
  limitCredential,
  requireCredential,
} from '@svc/core/tenants/credentials'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { asAdministrator } from './administrator.ts'
import { printRecord } from './print.ts'
import { UsageError } from './usage-error.ts'

export interface LimitOptions {
  readonly address?: readonly string[]
  readonly scope?: readonly string[]
}

interface Wanted {
  readonly tenantId: string
  readonly credentialId: string
}

const optionOf = (list: 'addresses' | 'scopes') => (list === 'addresses' ? '--address' : '--scope')

const limitsOf = (tenantId: string, { address = [], scope = [] }: LimitOptions) =>
  readLimits(kindOfTenant(tenantId), { addresses: address, scopes: scope }, optionOf)

/** The options of commands that issue or limit a credential. */
export const withLimits = (command: Command): Command =>
  command
    .option('--address <address...>', 'addresses and networks from which it may be used; by default all')
    .option('--scope <scope...>', 'what it may be used for, such as payments:read; by default everything')

/** In sandbox mode. */
export interface ShownCredential extends Omit<IssuedCredential, 'secret'> {
  readonly secret: string
}

/** Issues a credential, after `check` has seen its tenant. */
export function issueLimited(
  { tenantId, name, ...options }: LimitOptions & { readonly tenantId: string; readonly name: string },
  check: (tx: Tx) => Promise<unknown>,
): Promise<ShownCredential> {
  return asAdministrator('key issue', async (tx, { config, keyMaker }) => {
    const limits = limitsOf(tenantId, options)
    await check(tx)
    const issued = await issueCredential(tx, keyMaker, { tenantId, name, limits })
    return { ...issued, secret: shownSecret(issued.secret, config) }
  })
}

interface LimitCommandOptions extends LimitOptions {
  readonly anyAddress?: boolean
  readonly allScopes?: boolean
  readonly json?: boolean
}

/** Limits as a column shows them. */
export const shownLimits = ({ limits, lastRefusal }: Pick<Credential, 'limits' | 'lastRefusal'>) => ({
  addresses: limits.addresses.join(' '),
  scopes: limits.scopes.join(' '),
  refusedAt: lastRefusal?.refusedAt,
  refusedAddress: lastRefusal?.address,
})

/** A list that no option names stays as it is. */
async function limit(
  wanted: Wanted,
  { address, scope, anyAddress = false, allScopes = false, json = false }: LimitCommandOptions,
): Promise<void> {
  if (!address && !scope && !anyAddress && !allScopes)
    throw new UsageError('Name what changes: --address or --any-address, --scope or --all-scopes')
  if ((address && anyAddress) || (scope && allScopes))
    throw new UsageError('--address and --any-address, and --scope and --all-scopes, exclude each other')
  const limited = await asAdministrator('key limit', async (tx) => {
    const { limits } = await requireCredential(tx, wanted.tenantId, wanted.credentialId)
    const next = limitsOf(wanted.tenantId, {
      address: anyAddress ? [] : (address ?? limits.addresses),
      scope: allScopes ? [] : (scope ?? limits.scopes),
    })
    return limitCredential(tx, wanted, next)
  })
  const { credentialId, name } = limited
  const { addresses, scopes } = shownLimits(limited)
  printRecord({ tenantId: wanted.tenantId, credentialId, name, addresses, scopes }, json)
}

/** `limit` of API keys and of OAuth clients. */
export function addLimitCommand(parent: Command, ids: string, example: string): void {
  withLimits(parent.command(`limit ${ids}`))
    .description('set from which addresses a credential may be used and for what; holds within a second')
    .option('--any-address', 'from everywhere again')
    .option('--all-scopes', 'for everything again')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action((tenantId: string, credentialId: string, options: LimitCommandOptions) =>
      limit({ tenantId, credentialId }, options),
    )
}
