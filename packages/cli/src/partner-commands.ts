import { shownSecret, showsSecrets } from '@svc/console-api/faces/sandbox-secret'
import { listCredentials, OVERLAP_HOURS, OVERLAP_HOURS_MAX } from '@svc/core/tenants/credentials'
import {
  createPartner,
  type Partner,
  PRODUCTS,
  type Product,
  registerPartner,
  revokeOAuthClient,
} from '@svc/core/tenants/partner'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { toRecord } from '@svc/server/http/resource'
import { partner } from '@svc/server/tenants/partners'
import type { Command } from 'commander'
import { asAdministrator } from './administrator.ts'
import { withInstallation } from './context.ts'
import {
  addLimitCommand,
  issueLimited,
  type LimitOptions,
  shownLimits,
  withLimits,
} from './limit-credential.ts'
import { addNounList, addNounShow, printNoun } from './noun-commands.ts'
import { addPartnerKeyCommands } from './partner-key-commands.ts'
import { addPartnerSettings } from './partner-settings.ts'
import { printRecord, printRows } from './print.ts'
import { requirePartner } from './require-partner.ts'
import { type RollOptions, roll } from './roll-credential.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = toRecord<Partner>(partner, 'operator')

export const requireName = (name: string, option = '--name'): void => {
  if (!/\S/.test(name) || name.length > 100)
    throw new UsageError(`${option} must have 1 to 100 characters, not only spaces`)
}

export function addPartnerCommands(program: Command): void {
  const group = program.command('partner').description('register, list and disable card and rewards partners')
  group
    .command('create')
    .description(
      'register a partner; in sandbox mode with a first OAuth client, whose secret is shown only once',
    )
    .requiredOption('--name <name>', '1 to 100 characters')
    .requiredOption('--product <product...>', `what it uses: ${PRODUCTS.join(', ')}; one or both`)
    .option('--plain-requests', 'accept requests that are not encrypted (sandbox mode only)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner create --name "Gift House" --product incentive')
    .action(create)
  addNounList<Partner>(group, partner, {
    description: 'list partners, newest first',
    example: 'svc admin partner list --json',
  })
  addNounShow<Partner>(group, partner, {
    id: 'partnerId',
    description: 'show a partner',
    example: 'svc admin partner show par_…',
  })
  for (const [name, disabled, description] of [
    ['disable', true, 'no more tokens; its tokens die within a second in every process'],
    ['enable', false, 'undo disable'],
  ] as const) {
    group
      .command(`${name} <partnerId>`)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  svc admin partner ${name} par_…`)
      .action(async (partnerId: string, { json = false }: Json) => {
        const changed = await withInstallation(async ({ config, database }) => {
          const found = await database.operate(async (tx) => {
            await setTenantDisabled(tx, partnerId, 'partner', disabled)
            return requirePartner(tx, partnerId)
          })
          return shown(found, config.BUSINESS_TIME_ZONE)
        })
        printNoun(changed, json)
      })
  }
  addPartnerSettings(group)
  addClientCommands(group)
  addPartnerKeyCommands(group)
}

interface CreateOptions extends Json {
  readonly name: string
  readonly product: readonly string[]
  readonly plainRequests?: boolean
}

async function create({ name, product, plainRequests = false, json = false }: CreateOptions): Promise<void> {
  requireName(name)
  const products = [...new Set(product)].filter((one): one is Product =>
    PRODUCTS.some((known) => known === one),
  )
  if (products.length !== new Set(product).size)
    throw new UsageError(`--product must be one or both of ${PRODUCTS.join(', ')}`)
  const created = await asAdministrator('partner create', async (tx, { config, keyMaker }) => {
    if (plainRequests && config.SVC_MODE !== 'sandbox')
      throw new UsageError('--plain-requests exists in sandbox mode only')
    const wanted = { name, products, plainRequests }
    const zone = config.BUSINESS_TIME_ZONE
    if (!showsSecrets(config)) return shown(await registerPartner(tx, keyMaker, wanted), zone)
    const { partner: made, client } = await createPartner(tx, keyMaker, wanted)
    const { clientId, clientSecret } = client
    return { ...shown(made, zone), clientId, clientSecret: shownSecret(clientSecret, config) }
  })
  printNoun(created, json)
}

function addClientCommands(partner: Command): void {
  const client = partner
    .command('client')
    .description('issue, list, limit, roll and revoke OAuth clients of partners')
  withLimits(client.command('issue <partnerId>'))
    .description('issue one more OAuth client, whose secret is shown only once (sandbox mode only)')
    .option('--name <name>', 'what it is for', 'issued by svc admin partner client issue')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nIn live mode clients are handed over: svc admin member invite par_… <name> --hand-over\nTo replace a client without a gap: svc admin partner client roll par_… cli_…\n\nExample:\n  svc admin partner client issue par_… --name "batch jobs"',
    )
    .action(
      async (partnerId: string, { json = false, ...options }: Json & LimitOptions & { name: string }) => {
        const { name } = options
        requireName(name)
        const { credentialId: clientId, secret } = await issueLimited(
          { tenantId: partnerId, ...options },
          (tx) => requirePartner(tx, partnerId),
        )
        printRecord({ partnerId, clientId, name, clientSecret: secret }, json)
      },
    )
  client
    .command('list <partnerId>')
    .description('list the OAuth clients of a partner')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner client list par_…')
    .action(async (partnerId: string, { json = false }: Json) => {
      const clients = await withInstallation(({ database }) =>
        database.operate(async (tx) => {
          await requirePartner(tx, partnerId)
          return listCredentials(tx, partnerId)
        }),
      )
      printRows(
        clients.map(({ credentialId: clientId, limits, lastRefusal, ...one }) => ({
          clientId,
          ...one,
          ...shownLimits({ limits, lastRefusal }),
        })),
        json,
      )
    })
  addLimitCommand(
    client,
    '<partnerId> <clientId>',
    'svc admin partner client limit par_… cli_… --scope cards:read --any-address',
  )
  addRollCommand(client)
  addRevokeCommand(client)
}

function addRevokeCommand(client: Command): void {
  client
    .command('revoke <clientId>')
    .description('revoke an OAuth client for good; its tokens die within a second in every process')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner client revoke cli_…')
    .action(async (clientId: string, { json = false }: Json) => {
      const revoked = await withInstallation(({ database }) =>
        database.operate((tx) => revokeOAuthClient(tx, clientId)),
      )
      if (!revoked)
        throw new UsageError(
          `There is no OAuth client ${clientId}. See them with: svc admin partner client list <partnerId>`,
        )
      printRecord({ ...revoked }, json)
    })
}

function addRollCommand(client: Command): void {
  client
    .command('roll <partnerId> <clientId>')
    .description(
      'issue a client in the place of another, which goes on working for some hours; shown only once (sandbox mode only)',
    )
    .option(
      '--hours <hours>',
      `how long the previous client works, 1 to ${OVERLAP_HOURS_MAX}`,
      `${OVERLAP_HOURS}`,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner client roll par_… cli_… --hours 48')
    .action((partnerId: string, clientId: string, options: RollOptions) =>
      roll({ tenantId: partnerId, credentialId: clientId }, options, ({ issued, replaced }) => ({
        partnerId,
        clientId: issued.credentialId,
        clientSecret: issued.secret,
        replacedEndsAt: replaced.expiresAt,
      })),
    )
}
