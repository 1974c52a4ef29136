import { EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import { ACCOUNT_TYPES, type AccountType } from '@svc/core/cards/card-account'
import { createCardAccount } from '@svc/core/cards/create-card-account'
import { eraseUser } from '@svc/core/cards/erase-user'
import {
  findCompany,
  findFundedAccount,
  findUserPartner,
  listCardAccounts,
  listCompanies,
  listUsers,
} from '@svc/core/cards/list-onboarded'
import type { Company } from '@svc/core/tenants/company'
import { createCompany } from '@svc/core/tenants/create-company'
import { createUser as createUserCommand } from '@svc/core/tenants/create-user'
import { PRODUCTS } from '@svc/core/tenants/partner'
import type { User } from '@svc/core/tenants/user'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { cliActor, withInstallation } from './context.ts'
import { addCardAccountMoney, shownAccount } from './fund-account.ts'
import { addFundingInstructionsCommand } from './funding-instructions-command.ts'
import { requireName } from './partner-commands.ts'
import { printRecord, printRows } from './print.ts'
import { readReason } from './read-reason.ts'
import { requirePartner } from './require-partner.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

async function requireCompany(tx: Tx, companyId: string) {
  const company = await findCompany(tx, companyId)
  if (!company)
    throw new UsageError(`There is no company ${companyId}. See them all with: svc admin company list`)
  return company
}

export function addCompanyCommands(program: Command): void {
  const company = program.command('company').description('companies: the customers of partners')
  company
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
      const created = await withInstallation(async ({ commands, database }) => {
        await database.operate((tx) => requirePartner(tx, partnerId))
        const audit = { actor: cliActor(), target: (made: Company) => made.companyId, tenantId: partnerId }
        return commands.open(createCompany).run({ partnerId, name }, audit)
      })
      printRecord(created, json)
    })
  company
    .command('list [partnerId]')
    .description('list the companies of a partner, or all')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin company list par_…')
    .action(async (partnerId: string | undefined, { json = false }: Json) => {
      const companies = await withInstallation(({ database }) =>
        database.operate(async (tx) => {
          if (partnerId !== undefined) await requirePartner(tx, partnerId)
          return listCompanies(tx, partnerId)
        }),
      )
      printRows(companies, json)
    })
}

const shownUser = (user: User) => ({
  userId: user.userId,
  partnerId: user.partnerId,
  companyId: user.companyId,
  firstName: user.firstName ?? undefined,
  lastName: user.lastName ?? undefined,
  mobile: user.mobile ?? undefined,
  email: user.email ?? undefined,
  erasedAt: user.erasedAt ?? undefined,
})

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('users: employees of companies, who hold the cards')
  user
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
  user
    .command('list <companyId>')
    .description('list the users of a company')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin user list com_…')
    .action(async (companyId: string, { json = false }: Json) => {
      const found = await withInstallation(({ database }) =>
        database.operate(async (tx) => {
          await requireCompany(tx, companyId)
          return listUsers(tx, companyId)
        }),
      )
      printRows(found.map(shownUser), json)
    })
  user
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
  const { user } = await withInstallation(async ({ commands, database }) => {
    const partnerId = await database.operate((tx) => findUserPartner(tx, userId))
    if (partnerId === undefined) throw new UsageError(`There is no user ${userId}`)
    const audit = { actor: cliActor(), action: 'user.erased', target: userId, tenantId: partnerId }
    return commands.open(eraseUser).run({ partnerId, userId }, { ...audit, details: { reason } })
  })
  printRecord(shownUser(user), json)
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
  const user = await withInstallation(async ({ commands, database }) => {
    const { partnerId } = await database.operate((tx) => requireCompany(tx, companyId))
    return commands.open(createUserCommand).run(
      { partnerId, companyId, profile },
      {
        actor: cliActor(),
        action: 'user.created',
        target: (made: User) => made.userId,
        tenantId: partnerId,
      },
    )
  })
  printRecord(shownUser(user), json)
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
  account
    .command('list [companyId]')
    .description('list the card accounts of a company, or all, with what they have left')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin card-account list com_…')
    .action(async (companyId: string | undefined, { json = false }: Json) => {
      const accounts = await withInstallation(({ database }) =>
        database.operate(async (tx) => {
          if (companyId !== undefined) await requireCompany(tx, companyId)
          return listCardAccounts(tx, companyId)
        }),
      )
      printRows(accounts.map(shownAccount), json)
    })
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
