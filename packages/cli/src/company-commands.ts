import { EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import { ACCOUNT_TYPES, type AccountType } from '@svc/core/cards/account/card-account'
import { createCardAccount } from '@svc/core/cards/account/create-card-account'
import { findCompany, findFundedAccount, findUserPartner } from '@svc/core/cards/card/list-onboarded'
import { eraseUser } from '@svc/core/cards/user/erase-user'
import type { Company } from '@svc/core/tenants/company'
import { createCompany } from '@svc/core/tenants/create-company'
import { createUser as createUserCommand } from '@svc/core/tenants/create-user'
import { PRODUCTS } from '@svc/core/tenants/partner'
import type { User } from '@svc/core/tenants/user'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { cardAccount, type ListedAccount } from '@svc/server/cards/card-accounts'
import { company, type ListedCompany } from '@svc/server/tenants/companies'
import { type ListedUser, user } from '@svc/server/tenants/users'
import type { Command } from 'commander'
import { addCardAccountUpdate } from './card-account-update.ts'
import { cliActor, withInstallation } from './context.ts'
import { addCardAccountMoney, shownAccount } from './fund-account.ts'
import { addFundingInstructionsCommand } from './funding-instructions-command.ts'
import { addNounList, addNounShow, printNoun, recordAfter } from './noun-commands.ts'
import { requireName } from './partner-commands.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { requirePartner } from './require-partner.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const noCompany = (companyId: string): string =>
  `There is no company ${companyId}. See them all with: svc admin company list`
const noUser = (userId: string): string => `There is no user ${userId}. List them with: svc admin user list`

const missing = (message: string): never => {
  throw new UsageError(message)
}

async function requireCompany(tx: Tx, companyId: string) {
  return (await findCompany(tx, companyId)) ?? missing(noCompany(companyId))
}

export function addCompanyCommands(program: Command): void {
  const group = program.command('company').description('companies: the customers of partners')
  group
    .command('create <partnerId>')
    .description('register a company under a partner')
    .requiredOption('--name <name>', 'legal name, 1 to 100 characters; cards show it')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin company create par_… --name "Acme Industries Private Limited"',
    )
    .action(async (partnerId: string, { name, json = false }: Json & { name: string }) => {
      requireName(name)
      const created = await withInstallation(async (context) => {
        const { commands, database } = context
        await database.operate((tx) => requirePartner(tx, partnerId))
        const audit = { actor: cliActor(), target: (made: Company) => made.companyId, tenantId: partnerId }
        const made = await commands.open(createCompany).run({ partnerId, name }, audit)
        return recordAfter<ListedCompany>(context, company, made.companyId, made)
      })
      printNoun(created, json)
    })
  addNounList<ListedCompany>(group, company, {
    by: 'partnerId',
    description: 'list the companies of a partner, or all, newest first',
    example: 'svc admin company list par_…',
  })
  addNounShow<ListedCompany>(group, company, {
    id: 'companyId',
    description: 'show a company',
    example: 'svc admin company show com_…',
    missing: noCompany,
  })
}

export function addUserCommands(program: Command): void {
  const group = program.command('user').description('users: employees of companies, who hold the cards')
  group
    .command('create <companyId>')
    .description('register a user of a company; mobile and e-mail are unique within it')
    .option('--first-name <name>', '1 to 100 characters')
    .option('--last-name <name>', '1 to 100 characters')
    .option('--mobile <digits>', 'exactly 10 digits')
    .option('--email <address>', 'e-mail address')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin user create com_… --first-name Asha --last-name Rao --mobile 9876543210',
    )
    .action(createUser)
  addNounList<ListedUser>(group, user, {
    by: 'companyId',
    description: 'list the users of a company, or of all, newest first',
    example: 'svc admin user list com_…',
  })
  addNounShow<ListedUser>(group, user, {
    id: 'userId',
    description: 'show a user',
    example: 'svc admin user show usr_…',
    missing: noUser,
  })
  group
    .command('erase <userId>')
    .description(
      'erase the personal data of a user for good; cards must be ended and empty, and no coins left',
    )
    .requiredOption('--reason <text>', 'why; kept in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin user erase usr_… --reason "asked by letter of 2026-11-02"')
    .action(erase)
}

async function erase(userId: string, { reason, json = false }: Json & { reason: string }): Promise<void> {
  const erased = await withInstallation(async (context) => {
    const { commands, database } = context
    const partnerId = await database.operate((tx) => findUserPartner(tx, userId))
    if (partnerId === undefined) throw new UsageError(noUser(userId))
    const audit = { actor: cliActor(), action: 'user.erased', target: userId, tenantId: partnerId }
    const outcome = await commands
      .open(eraseUser)
      .run({ partnerId, userId }, { ...audit, details: { reason } })
    return recordAfter<ListedUser>(context, user, userId, outcome)
  })
  printNoun(erased, json)
}

interface UserOptions extends Json {
  readonly firstName?: string
  readonly lastName?: string
  readonly mobile?: string
  readonly email?: string
}

const [EMAIL, MOBILE] = [new RegExp(EMAIL_PATTERN), new RegExp(MOBILE_PATTERN)]

async function createUser(companyId: string, { json = false, ...profile }: UserOptions): Promise<void> {
  const { firstName, lastName, mobile, email } = profile
  if (firstName !== undefined) requireName(firstName, '--first-name')
  if (lastName !== undefined) requireName(lastName, '--last-name')
  if (mobile !== undefined && !MOBILE.test(mobile)) throw new UsageError('--mobile must be exactly 10 digits')
  if (email !== undefined && (email.length > 254 || !EMAIL.test(email)))
    throw new UsageError('--email must be an e-mail address')
  if (Object.keys(profile).length === 0)
    throw new UsageError('Say who it is: --first-name, --last-name, --mobile or --email')
  const created = await withInstallation(async (context) => {
    const { commands, database } = context
    const { partnerId } = await database.operate((tx) => requireCompany(tx, companyId))
    const made = await commands.open(createUserCommand).run(
      { partnerId, companyId, profile },
      {
        actor: cliActor(),
        action: 'user.created',
        target: ({ userId }: User) => userId,
        tenantId: partnerId,
      },
    )
    return recordAfter<ListedUser>(context, user, made.userId, made)
  })
  printNoun(created, json)
}

/** Money as rupees with two decimals: text, so that no program rounds it. */
export function addCardAccountCommands(program: Command): void {
  const account = program
    .command('card-account')
    .description('card accounts: what the cards of a company are funded from')
  account
    .command('create <companyId>')
    .description('open a card account, empty')
    .requiredOption('--product <product>', `what its cards are for: ${PRODUCTS.join(' or ')}`)
    .option('--type <type>', `account type: ${Object.keys(ACCOUNT_TYPES).join(', ')}`, 'GIFT')
    .option('--bin-type <name>', 'BIN type of its cards', 'GIFT')
    .option('--programme <name>', 'card programme', 'Gift cards')
    .option(
      '--denomination <rupees>',
      'whole rupees that a card is loaded with when its order does not say',
      '500',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin card-account create com_… --product incentive --denomination 1000',
    )
    .action(createAccount)
  addNounList<ListedAccount>(account, cardAccount, {
    by: 'companyId',
    description: 'list the card accounts of a company, or of all, newest first',
    example: 'svc admin card-account list com_…',
  })
  addNounShow<ListedAccount>(account, cardAccount, {
    id: 'cardAccountId',
    description: 'show a card account, with what it has left',
    example: 'svc admin card-account show acc_…',
    missing: (id) => `There is no card account ${id}. List: svc admin card-account list`,
  })
  addCardAccountUpdate(account)
  addCardAccountMoney(account)
  addFundingInstructionsCommand(account)
}

interface AccountOptions extends Json {
  readonly product: string
  readonly type: string
  readonly binType: string
  readonly programme: string
  readonly denomination: string
}

async function createAccount(companyId: string, options: AccountOptions): Promise<void> {
  const { binType, programme, json = false } = options
  const product = PRODUCTS.find((known) => known === options.product)
  const accountType = (Object.keys(ACCOUNT_TYPES) as AccountType[]).find((known) => known === options.type)
  const denomination = /^[1-9][0-9]{0,6}$/.test(options.denomination)
    ? BigInt(options.denomination)
    : undefined
  const problems = [
    ...(product ? [] : [`--product must be ${PRODUCTS.join(' or ')}`]),
    ...(accountType ? [] : [`--type must be one of ${Object.keys(ACCOUNT_TYPES).join(', ')}`]),
    ...(/^[A-Z][A-Z_]{0,39}$/.test(binType)
      ? []
      : ['--bin-type must be capital letters and underscores, 40 at most']),
    ...(denomination ? [] : ['--denomination must be whole rupees, 1 or more']),
  ]
  if (!product || !accountType || !denomination || problems.length > 0)
    throw new UsageError(problems.join('\n'))
  requireName(programme, '--programme')
  const created = await withInstallation(async ({ commands, database }) => {
    const { partnerId } = await database.operate((tx) => requireCompany(tx, companyId))
    const denominationPaise = paise(denomination * 100n)
    const plan = { partnerId, companyId, product, accountType, binType, programme, denominationPaise }
    const { cardAccountId } = await commands.open(createCardAccount).run(plan, {
      actor: cliActor(),
      target: (made: { cardAccountId: string }) => made.cardAccountId,
      tenantId: partnerId,
    })
    const found = await database.operate((tx) => findFundedAccount(tx, cardAccountId))
    return required(found, 'a new card account is found')
  })
  printRecord(shownAccount(created), json)
}
