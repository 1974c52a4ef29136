import { readConfig } from '@svc/contract/config'
import type { Partner } from '@svc/sdk'
import { DEMO_PARTNER_NAMES, readSandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { openProfile, pathWith, type RemoteOptions, remote, show } from './remote.ts'
import type { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface CreateOptions extends RemoteOptions {
  readonly account?: string
  readonly user?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly email?: string
  readonly mobile?: string
  readonly amount?: string
  readonly reference?: string
  readonly physical?: boolean
}

interface Account {
  readonly cardAccountId: string
  readonly companyId: string
}

/** `svc cards create`: the order is encrypted to a key that the server publishes, so no key is needed here. */
export function addCreateCard(cards: Command): void {
  remote(cards.command('create'))
    .description('issue a gift card of the partner of a profile; the order is encrypted')
    .option('--account <cardAccountId>', 'the card account; by default the only one, or that of sandbox.json')
    .option('--user <userId>', 'a user of the company; by default found by mobile or e-mail, or created')
    .option('--first-name <name>', 'of the holder')
    .option('--last-name <name>', 'of the holder')
    .option('--email <address>', 'of the holder')
    .option('--mobile <digits>', 'of the holder, 10 digits')
    .option('--amount <rupees>', 'whole rupees to load; by default the denomination of the card account')
    .option('--reference <text>', 'your reference; a repeat with the same one returns the same card')
    .option('--physical', 'a physical card, which waits to be activated')
    .addHelpText('after', '\nExample:\n  svc cards create --first-name Asha --mobile 9876543210 --amount 500')
    .action(create)
}

async function create(options: CreateOptions): Promise<void> {
  const { account, user, firstName, lastName, email, mobile, amount, reference, physical } = options
  const session = await openProfile(options, 'partner')
  const order = {
    ...(await accountOf(session, account)),
    ...(user !== undefined && { userId: user }),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(email !== undefined && { email }),
    ...(mobile !== undefined && { mobile }),
    ...(amount !== undefined && { loadAmount: amount }),
    ...(reference !== undefined && { referenceNumber: reference }),
    ...(physical && { physicalCard: true }),
  }
  const { cards } = session.client as Partner
  const card = await session.reported('The order', cards.create(order))
  if (options.json) return show(card, options)
  const { svcCardId, maskedNumber, cardStatus, loadAmount, userId, cardAccountId, companyName } = card
  show(
    { svcCardId, maskedNumber, cardStatus: cardStatus.label, loadAmount, userId, cardAccountId, companyName },
    options,
  )
}

/** The company is the account's. A demo partner of the sandbox orders from the account of its file by default. */
async function accountOf(session: TenantSession, given: string | undefined): Promise<Account> {
  const path = '/api/v0/partner/card-accounts'
  const found = async () => {
    const { data } = await session.call<{ data: readonly Account[] }>('GET', pathWith(path, { limit: 2 }))
    if (data.length > 1)
      throw new UsageError(
        `The partner has several card accounts. Name one with --account; list them: svc api get ${path}`,
      )
    return data[0] ?? noAccount()
  }
  const { cardAccountId, companyId } =
    given === undefined
      ? ((await demoPartner(session)) ?? (await found()))
      : await session.call<Account>('GET', `${path}/${encodeURIComponent(given)}`)
  return { cardAccountId, companyId }
}

async function demoPartner({ partnerId }: TenantSession): Promise<Account | undefined> {
  const sandbox = await readSandboxFile(readConfig(process.env).DATA_DIR)
  return (
    sandbox && DEMO_PARTNER_NAMES.map((name) => sandbox[name]).find((each) => each.partnerId === partnerId)
  )
}

const noAccount = (): never => {
  throw new UsageError(
    'The partner has no card account. Create one: svc api post /api/v0/partner/card-accounts',
  )
}
