import { shownSecret, showsSecrets } from '@svc/console-api/faces/sandbox-secret'
import { revokeApiKey } from '@svc/core/tenants/api-key'
import { listCredentials, OVERLAP_HOURS, OVERLAP_HOURS_MAX } from '@svc/core/tenants/credentials'
import {
  ADDRESS_TAKEN,
  createMerchant,
  findMerchant,
  isAddressTaken,
  linkMerchant,
  type Merchant,
  registerMerchant,
  setMerchantDisabled,
} from '@svc/core/tenants/merchant'
import { findPartner } from '@svc/core/tenants/partner'
import { toRecord } from '@svc/server/http/resource'
import { merchant } from '@svc/server/tenants/merchants'
import { isMcc, isPayeeName, isVpa, PAYEE_NAME_RULE, STORED_VALUE_LOAD_MCC } from '@svc/upi-qr/upi-uri'
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
import { printRecord, printRows } from './print.ts'
import { noMerchant, noMerchantText } from './require-merchant.ts'
import { type RollOptions, roll } from './roll-credential.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const shown = toRecord<Merchant>(merchant, 'operator')

export function addMerchantCommands(program: Command): void {
  const group = program.command('merchant').description('register, list and disable merchants')
  group
    .command('create')
    .description('register a merchant; in sandbox mode with a first API key, which is shown only once')
    .requiredOption('--name <name>', 'name that payers see, 1 to 100 characters')
    .requiredOption('--vpa <vpa>', 'virtual payment address that its QR codes are paid to')
    .requiredOption('--mcc <code>', 'merchant category code, four digits (ISO 18245)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin merchant create --name "Corner Shop" --vpa corner.shop@bank --mcc 5411',
    )
    .action(create)
  addNounList<Merchant>(group, merchant, {
    description: 'list merchants, newest first',
    example: 'svc admin merchant list --status disabled',
  })
  addNounShow<Merchant>(group, merchant, {
    id: 'merchantId',
    description: 'show a merchant',
    example: 'svc admin merchant show mer_…',
  })
  group
    .command('link <merchantId> [partnerId]')
    .description('let a merchant read the coin configurations of a partner; without a partner, no more')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin merchant link mer_… par_…')
    .action(link)
  for (const [name, disabled, description] of [
    ['disable', true, 'no more tokens, its tokens die within a second, its QR codes take no payments'],
    ['enable', false, 'undo disable'],
  ] as const) {
    group
      .command(`${name} <merchantId>`)
      .description(description)
      .option('--json', 'print JSON')
      .action(async (merchantId: string, { json = false }: Json) => {
        const changed = await withInstallation(async ({ config, database }) => {
          const found = await database.operate((tx) => setMerchantDisabled(tx, merchantId, disabled))
          return shown(found ?? noMerchant(merchantId), config.BUSINESS_TIME_ZONE)
        })
        printNoun(changed, json)
      })
  }
}

async function link(
  merchantId: string,
  partnerId: string | undefined,
  { json = false }: Json,
): Promise<void> {
  const linked = await withInstallation(async ({ config, database }) => {
    const found = await database.operate(async (tx) => {
      if (partnerId !== undefined && !(await findPartner(tx, partnerId)))
        throw new UsageError(`There is no partner ${partnerId}. See them all with: svc admin partner list`)
      return linkMerchant(tx, merchantId, partnerId ?? null)
    })
    return shown(found ?? noMerchant(merchantId), config.BUSINESS_TIME_ZONE)
  })
  printNoun(linked, json)
}

interface CreateOptions extends Json {
  readonly name: string
  readonly vpa: string
  readonly mcc: string
}

async function create({ name, vpa, mcc, json = false }: CreateOptions): Promise<void> {
  const problems = [
    ...(isPayeeName(name) ? [] : [`--name ${PAYEE_NAME_RULE}`]),
    ...(isVpa(vpa) ? [] : ['--vpa must look like name@handle']),
    ...(isMcc(mcc) ? [] : ['--mcc must be four digits']),
    ...(mcc === STORED_VALUE_LOAD_MCC ? ['--mcc 6540 (stored-value load) may not have QR codes'] : []),
  ]
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  const created = await asAdministrator('merchant create', async (tx, { config, keyMaker }) => {
    const wanted = { name, vpa, mcc }
    const zone = config.BUSINESS_TIME_ZONE
    if (!showsSecrets(config)) return shown(await registerMerchant(tx, keyMaker, wanted), zone)
    const { merchant: made, apiKey } = await createMerchant(tx, keyMaker, wanted)
    return { ...shown(made, zone), apiKeyId: apiKey.apiKeyId, apiKey: shownSecret(apiKey.secret, config) }
  }).catch((error: unknown) => {
    if (isAddressTaken(error)) throw new UsageError(`--vpa ${vpa}: ${ADDRESS_TAKEN}`)
    throw error
  })
  printNoun(created, json)
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('issue, list, limit, roll and revoke API keys of merchants')
  withLimits(key.command('issue <merchantId>'))
    .description(
      'issue one more API key, shown only once (sandbox mode only); previous keys stay valid until they are revoked',
    )
    .option('--name <name>', 'what it is for', 'issued by svc admin key issue')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nIn live mode keys are handed over: svc admin member invite mer_… <name> --hand-over\nTo replace a key without a gap: svc admin key roll mer_… key_…\n\nExample:\n  svc admin key issue mer_… --name "till 2" --address 203.0.113.0/24 --scope qr_codes:read qr_codes:write',
    )
    .action(
      async (merchantId: string, { json = false, ...options }: Json & LimitOptions & { name: string }) => {
        const { name } = options
        const { credentialId: apiKeyId, secret } = await issueLimited(
          { tenantId: merchantId, ...options },
          async (tx) => (await findMerchant(tx, merchantId)) ?? noMerchant(merchantId),
        )
        printRecord({ merchantId, apiKeyId, name, apiKey: secret }, json)
      },
    )
  addListCommand(key)
  addLimitCommand(
    key,
    '<merchantId> <apiKeyId>',
    'svc admin key limit mer_… key_… --address 203.0.113.0/24 2001:db8::/32 --all-scopes',
  )
  key
    .command('roll <merchantId> <apiKeyId>')
    .description(
      'issue a key in the place of another, which goes on working for some hours; shown only once (sandbox mode only)',
    )
    .option(
      '--hours <hours>',
      `how long the previous key works, 1 to ${OVERLAP_HOURS_MAX}`,
      `${OVERLAP_HOURS}`,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin key roll mer_… key_… --hours 48')
    .action((merchantId: string, apiKeyId: string, options: RollOptions) =>
      roll({ tenantId: merchantId, credentialId: apiKeyId }, options, ({ issued, replaced }) => ({
        merchantId,
        apiKeyId: issued.credentialId,
        apiKey: issued.secret,
        replacedEndsAt: replaced.expiresAt,
      })),
    )
  addRevokeCommand(key)
}

function addListCommand(key: Command): void {
  key
    .command('list <merchantId>')
    .description('list the API keys of a merchant, by their prefix')
    .option('--json', 'print JSON')
    .action(async (merchantId: string, { json = false }: Json) => {
      const keys = await withInstallation(({ database }) =>
        database.operate((tx) => listCredentials(tx, merchantId)),
      )
      printRows(
        keys.map(({ credentialId: apiKeyId, limits, lastRefusal, ...key }) => ({
          apiKeyId,
          ...key,
          ...shownLimits({ limits, lastRefusal }),
        })),
        json,
      )
    })
}

function addRevokeCommand(key: Command): void {
  key
    .command('revoke <apiKeyId>')
    .description('revoke an API key for good; its tokens die within a second in every process')
    .option('--json', 'print JSON')
    .action(async (apiKeyId: string, { json = false }: Json) => {
      const revoked = await withInstallation(({ database }) =>
        database.operate((tx) => revokeApiKey(tx, apiKeyId)),
      )
      if (!revoked)
        throw new UsageError(
          `There is no API key ${apiKeyId}. See them with: svc admin key list <merchantId>`,
        )
      const { tenantId: merchantId, name, prefix, revokedAt } = revoked
      printRecord({ apiKeyId, merchantId, name, prefix, revokedAt }, json)
    })
}
