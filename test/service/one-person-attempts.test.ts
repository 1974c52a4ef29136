import { access } from 'node:fs/promises'
import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { consoleServices } from '@svc/console-api/console-services'
import { PORTAL_OPERATIONS } from '@svc/console-api/portal/portal-operations'
import { PORTAL_API, portalServices } from '@svc/console-api/portal/portal-services'
import { APPROVED_COMMANDS } from '@svc/server/approvals/approved-commands'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { administrationCommands } from '../built/administration.ts'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { ALONE } from '../harness/commands-alone.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { SUPPLIER } from '../harness/invoices.ts'
import { ATTEMPTS, type Insider, type Step } from '../harness/one-person-attempts.ts'
import { newPartner } from '../harness/partner.ts'
import { ageMember, memberBrowser } from '../harness/portal.ts'
import { brokenIn } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  ;({ service, other } = await openApprovers(SUPPLIER))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

async function newInsider(): Promise<Insider> {
  const { name } = await newOperator(service, 'admin')
  const browser = new Browser(service)
  expect((await browser.signIn(name)).status).toBe(200)
  return { browser, actor: `operator ${name}` }
}

/**
 * What one person moves by these steps, in rupees: of each journal without an approval, what it moves, of the tenant of
 * which that is most. Journals between tenants have a side in both, and shares of a transfer mirror the whole of it.
 */
async function movedBy(steps: readonly Step[], insider: Insider): Promise<number> {
  const known = await sqlOn<{ id: string }>(service, 'select journal_id as id from journals')
  for (const step of steps) await step(insider).catch(() => undefined)
  const [moved] = await sqlOn<{ paise: string | null }>(
    service,
    `select max(of_tenant)::text as paise from (
       select sum(of_journal) as of_tenant from (
         select tenant_id, max(of_kind) as of_journal from (
           select t.tenant_id, t.journal_id, t.kind, sum(t.amount) as of_kind
           from ledger_transfers t
           where t.journal_id <> all ($1) and t.kind <> 'taken_back_shared' and not exists (
             select from approvals p where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id)
           group by t.tenant_id, t.journal_id, t.kind) k
         group by tenant_id, journal_id) j
       group by tenant_id) t`,
    [known.map(({ id }) => id)],
  )
  return Number(moved?.paise ?? 0) / 100
}

/** What makes possible again what was done: a person alone moves nothing by it. */
const NOTHING_ALONE = new Set(['completeRefund', 'changePayout'])

const LIMIT = 1_000

/** What one person enters at once and whole: what it moves is in the books, and its own test says so. */
const ONCE = ['enterYearEnd']

test('every command that moves money has an attempt of one person', () => {
  const names = APPROVED_COMMANDS.map(({ name }) => name)
  const attempted = new Set(Object.keys(ATTEMPTS).map((name) => name.split(',')[0]!))
  expect([...attempted, ...ONCE].sort()).toEqual(names.sort())
})

test('with a hundred tenants one person moves at most ten times the limit', async () => {
  const insider = await newInsider()
  const steps: Step[] = []
  for (let tenants = 0; tenants < 12; tenants++)
    steps.push(...(await ATTEMPTS['fundAccount']!(service, [900])))
  await Promise.all(steps.map((step) => step(insider)))
  const [{ paise }] = (await sqlOn<{ paise: string }>(
    service,
    'select sum(amount_paise)::text as paise from one_person_postings where person = $1',
    [insider.actor],
  )) as [{ paise: string }]
  expect(Number(paise) / 100).toBe(11 * 900)
})

test.each(Object.entries(ATTEMPTS))(
  '%s: one person moves at most the limit, at once or in many steps',
  async (name, attempt) => {
    const insider = await newInsider()
    expect(await movedBy(await attempt(service, [3_000]), insider)).toBe(0)
    const many = await movedBy(await attempt(service, [400, 400, 400, 400]), insider)
    expect(many).toBeLessThanOrEqual(LIMIT)
    if (NOTHING_ALONE.has(name)) expect(many).toBe(0)
    else expect(many).toBeGreaterThan(LIMIT / 2)
  },
  60_000,
)

/** Operations of the console that run no command, and what one person does by them. */
const OTHERS: Readonly<Record<string, string>> = {
  // One's own way to sign in.
  ...Object.fromEntries(
    [
      'signIn signInToSandbox startSingleSignOn finishSingleSignOn startPasskeySignIn signInWithPasskey startPasskey',
      'registerPasskey removePasskey stepUp startSecondFactor confirmSecondFactor renewRecoveryCodes',
      'removeOwnSecondFactor signOut changeOwnPassword endSession endOtherSessions showInvitation acceptInvitation',
    ]
      .flatMap((line) => line.split(' '))
      .map((name) => [`console.${name}`, 'of oneself']),
  ),
  // Who may act: two administrators in live mode.
  'console.changeOperator': 'built/who-may-act.test.ts',
  'console.approveAccessRequest': 'is the second person',
  'console.rejectAccessRequest': 'nothing happens then',
  'console.rejectChangeRequest': 'nothing happens then',
  'console.removeOperatorPasskeys': 'built/who-may-act.test.ts',
  'console.resetSecondFactor': 'built/who-may-act.test.ts',
  'console.unlinkOperator': 'built/who-may-act.test.ts',
  'console.endOperatorSession': 'whose session it was can sign in again',
  'console.inviteOperator': 'built/who-may-act.test.ts',
  'console.linkOperator': 'built/who-may-act.test.ts',
  'console.revokeInvitation': 'takes a link back',
  'console.handOverCredentials': 'service/member-second-factor.test.ts',
  'console.inviteMember': 'service/member-second-factor.test.ts',
  'console.changeMember': 'service/member-second-factor.test.ts',
  'console.renewMemberLink': 'service/member-second-factor.test.ts',
  'console.resetMemberSecondFactor': 'service/member-second-factor.test.ts',
  // Secrets of tenants: refused in live mode.
  'console.createPartner': 'unit/console/secrets-of-tenants.test.ts',
  'console.issueEncryptionKey': 'unit/console/secrets-of-tenants.test.ts',
  'console.issueCredential': 'unit/console/secrets-of-tenants.test.ts',
  'console.rollCredential': 'unit/console/secrets-of-tenants.test.ts',
  'console.retireEncryptionKey': 'ends a key',
  'console.registerEncryptionKey': 'a key for responses: it permits no request',
  'console.limitCredential': 'a credential of the tenant, which has its secret',
  'console.revokeCredential': 'ends a credential',
  // What redirects money.
  'console.editMerchant': 'service/payment-address.test.ts',
  'console.setBankAccount': 'service/payout-account-approval.test.ts',
  'console.approveChangeRequest': 'service/change-requests.test.ts',
  'console.setMerchantFee': 'of later payments, to us',
  'console.setPayoutSchedule': 'service/payout-schedules.test.ts',
  'console.setTaxRegistration': 'moves nothing',
  'console.createMerchant': 'has no money',
  'console.changeMerchant': 'disables',
  'console.linkMerchant': 'what it may read',
  'console.changePartner': 'disables',
  'console.closeTenant': 'what is left is paid out by two',
  // Between accounts of ours, as the bank says, or nothing.
  'console.payQrCode': 'of the sandbox',
  'console.sendEvidence': 'moves nothing',
  'console.sendBankRun': 'what two have approved',
  'console.recognizeBankFile': 'moves nothing',
  'console.readBankResponses': 'moves nothing',
  'console.importBankResponses': 'service/bank-runs.test.ts',
  'console.readSettlement': 'moves nothing',
  'console.importSettlement': 'service/settlements-by-one-person.test.ts',
  'console.readStatement': 'moves nothing',
  'console.importStatement': 'service/one-person.test.ts',
  'console.matchStatementLine': 'what the books have already',
  'console.unmatchStatementLine': 'what the match had posted',
  'console.assignStatementLine': 'moves nothing',
  'console.closeBookMonth': 'moves nothing',
  'console.accrueBookMonth': 'fees of payments that were made',
  'console.verifyBookMonths': 'moves nothing',
  'console.issueTaxDocuments': 'moves nothing',
  'console.createBankAccount': 'moves nothing',
  'console.removeBankHoliday': 'moves nothing',
  'console.approvePosting': 'is the second person',
  'console.rejectPosting': 'moves nothing',
  'console.acknowledgeAlert': 'moves nothing',
  'console.backtestSpendRules': 'moves nothing',
  'console.tryAllocation': 'moves nothing',
  'console.runReconciliation': 'moves nothing',
  'console.runAuditVerification': 'moves nothing',
  'console.revealPersonalData': 'moves nothing',
}

/** Of cards: no command of core by which money moves, but where the sandbox plays a shop. */
const OF_CARDS = new Set([
  'changeCardStatus',
  'activateCard',
  'setCardKyc',
  'setCardFlags',
  'spendCard',
  'refundCard',
])

/** The files that are named are there. */
async function expectTests(reasons: Readonly<Record<string, string>>): Promise<void> {
  for (const where of Object.values(reasons).filter((text) => text.endsWith('.test.ts')))
    await expect(access(new URL(`../${where}`, import.meta.url)), where).resolves.toBeUndefined()
}

test('every operation of the console runs commands that were attempted or may be given alone, or has a test of its own', async () => {
  const services = consoleServices(service.app.services)
  const own = new Set(Object.keys(OTHERS))
  const strange: string[] = []
  for (const { id, method, mount } of CONSOLE_OPERATIONS) {
    if (method === 'GET') continue
    const names: string[] = []
    const open = (command: { readonly name: string }) => {
      names.push(command.name)
      return services.commands.open(command as never)
    }
    mount({ ...services, commands: { open } } as never)
    if (names.length === 0 && !own.delete(id)) strange.push(`${id} runs no command and is not listed`)
    const unknown = names.filter((name) => ![ATTEMPTS, ALONE].some((of) => Object.hasOwn(of, name)))
    for (const name of unknown)
      if (!OF_CARDS.has(name) && !ONCE.includes(name))
        strange.push(`${id} runs ${name}, of which there is no attempt`)
  }
  expect(strange).toEqual([])
  expect([...own]).toEqual([])
  await expectTests(OTHERS)
})

/** Operations of the portal that run no command, and what one member does by them. */
const OF_MEMBERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'signIn signInToSandbox signOut changeOwnPassword stepUp startSecondFactor confirmSecondFactor renewRecoveryCodes',
      'removeOwnSecondFactor showLink useLink endSession endOtherSessions startPasskeySignIn signInWithPasskey startPasskey',
      'registerPasskey removePasskey',
    ]
      .flatMap((line) => line.split(' '))
      .map((name) => [`portal.${name}`, 'of oneself']),
  ),
  'portal.withdrawPaymentAddress': 'service/payment-address.test.ts',
  'portal.requestBankAccount': 'service/change-requests.test.ts',
  'portal.requestFee': 'service/change-requests.test.ts',
  'portal.requestPaymentAddress': 'service/change-requests.test.ts',
  'portal.withdrawChangeRequest': 'service/change-requests.test.ts',
  // Members and keys of the tenant are its administrators'.
  'portal.inviteMember': 'service/portal.test.ts',
  'portal.changeMember': 'service/portal.test.ts',
  'portal.renewMemberLink': 'service/portal.test.ts',
  'portal.resetMemberSecondFactor': 'service/member-second-factor.test.ts',
  'portal.issueCredential': 'service/portal-operations.test.ts',
  'portal.limitCredential': 'service/credential-limits.test.ts',
  'portal.rollCredential': 'service/portal-operations.test.ts',
  'portal.revokeCredential': 'ends a credential',
  'portal.issueEncryptionKey': 'service/portal-operations.test.ts',
  'portal.retireEncryptionKey': 'ends a key',
  searchQrCodes: 'reads',
  searchCards: 'reads',
  searchCoinConfigs: 'reads',
  backtestSpendRules: 'reads',
}

/** Of an accepted dispute nothing moves but what the bank has taken; of cards, their state. */
const STILL = new Set(['closeDispute', ...OF_CARDS])
const movesNothing = (name: string): boolean => STILL.has(name) || ALONE[name] === 'moves nothing'

const portalServicesOf = () => portalServices(service.app.services)

function commandsOf({ mount }: (typeof PORTAL_OPERATIONS)[number]): string[] {
  const services = portalServicesOf()
  const names: string[] = []
  const open = (command: { readonly name: string }) => {
    names.push(command.name)
    return services.commands.open(command as never)
  }
  mount({ ...services, commands: { open } } as never)
  return names
}

const OF_PORTAL = PORTAL_OPERATIONS.filter(({ method }) => method !== 'GET')

test('every operation of the portal moves what is the tenant’s own after a recent proof, moves nothing, or has a test of its own', async () => {
  const own = new Set(Object.keys(OF_MEMBERS))
  const strange: string[] = []
  for (const operation of OF_PORTAL) {
    const { id, stepUp } = operation
    const names = commandsOf(operation)
    if (names.length === 0 && !own.delete(id)) strange.push(`${id} runs no command and is not listed`)
    for (const name of names) {
      const { approval } = APPROVED_COMMANDS.find((each) => each.name === name) ?? {}
      if (approval && !approval.isOfTenants && !movesNothing(name))
        strange.push(`${id} runs ${name}, which tenants do not command`)
      if (!movesNothing(name) && !stepUp) strange.push(`${id} runs ${name} without a recent proof`)
    }
  }
  expect(strange).toEqual([])
  expect([...own]).toEqual([])
  await expectTests(OF_MEMBERS)
})

test('a viewer changes nothing in the portal, and an administrator nothing that moves without a recent proof', async () => {
  const { merchantId } = await service.newMerchant()
  const { partnerId } = await newPartner(service, { fundsPaise: 0n })
  const viewers = [merchantId, partnerId].map((tenantId) => memberBrowser(service, tenantId, 'viewer'))
  const admins = await Promise.all(
    [merchantId, partnerId].map((tenantId) => memberBrowser(service, tenantId)),
  )
  for (const { memberId } of admins) await ageMember(service, memberId)
  for (const { auth, id, method, path, role, stepUp } of OF_PORTAL) {
    if (auth === 'none' || auth === 'loopback' || !path.startsWith(PORTAL_API)) continue
    const at = path.slice(PORTAL_API.length).replace(/:\w+/g, 'x')
    const of = auth.startsWith('partner') ? 1 : 0
    const refused = async (browser: Browser) => (await browser.send(method, at, {})).error
    if (role && role !== 'viewer')
      expect([id, await refused(await viewers[of]!)]).toEqual([id, 'role_too_low'])
    if (stepUp) expect([id, await refused(admins[of]!)]).toEqual([id, 'step_up_required'])
  }
})

/** Commands of `svc admin` that change something, each with the command of core that it runs, or what one person does by it. */
const COMMAND_LINE: Readonly<Record<string, string>> = {
  'card-account fund': 'fundAccount',
  'card-account withdraw': 'withdrawFunds',
  'cards issue': 'createGiftCard',
  'cards load': 'loadCard',
  'cards unload': 'unloadCard',
  'cards replace': 'replaceCard',
  'cards return': 'returnCard',
  'cards reverse-return': 'reverseReturn',
  'payments adjust': 'adjustPayment',
  'payments returned': 'confirmRefund',
  'refund export': 'sendRefund',
  'refund import': 'completeRefund',
  'refund confirm': 'completeRefund',
  'refund fail': 'completeRefund',
  'dispute ask': 'requestEvidence',
  'dispute submit': 'submitEvidence',
  'dispute export': 'sendEvidence',
  'dispute receipt': 'sendEvidence',
  'dispute close': 'closeDispute',
  'notice assign': 'acceptPayment',
  'notice dismiss': 'dismissNotice',
  'notice reopen': 'reopenNotice',
  'settlement import': 'recordBatch',
  'settlement reverse': 'reverseBatch',
  'statement resolve': 'resolveLine',
  'suspense assign': 'resolveSuspense',
  'suspense unassign': 'unassignCredit',
  'suspense return': 'resolveSuspense',
  'payout run': 'preparePayout',
  'payout approve': 'changePayout',
  'payout cancel': 'changePayout',
  'payout confirm': 'changePayout',
  'payout fail': 'changePayout',
  'payout export': 'changePayout',
  'payout import': 'changePayout',
  'books accrue': 'accrueFees',
  'books settle': 'settleBalance',
  'books sweep': 'moveOwnFunds',
  'books pay gst': 'moveOwnFunds',
  'books pay owner': 'moveOwnFunds',
  'books pay escrow': 'moveOwnFunds',
  'books undo': 'takeBackOwnFunds',
  'books year-end': 'enterYearEnd',
  'tax credit-note': 'issueCreditNote',
  'tax debit-note': 'issueDebitNote',
  'tax tds': 'enterTdsCertificate',
  'tax tds-refund': 'resolveLine',
  'journal reverse': 'reverseJournal',
  'opening-balances import': 'enterOpeningBalance',
  'company create': 'createCompany',
  'company update': 'updateCompany',
  'user create': 'createUser',
  'user erase': 'eraseUser',
  'card-account create': 'createCardAccount',
  'card-account update': 'updateCardAccount',
  'spend-rules create': 'createSpendRule',
  'spend-rules remove': 'removeSpendRule',
  'webhook create': 'createWebhookEndpoint',
  'webhook rotate': 'rotateWebhookSecret',
  'webhook disable': 'updateWebhookEndpoint',
  'webhook enable': 'updateWebhookEndpoint',
  'webhook delete': 'deleteWebhookEndpoint',
}
/** They move nothing: who may act, tenants and their credentials (in live mode links only), the installation, files. */
const MOVES_NOTHING = new Set(
  [
    'operator|member|merchant|partner|key|keys|cell|tenant|directory|calendar|bank-account|alerts|audit|approval',
    'events|migrate|doctor|reconcile|invariants|backup|restore|end-access',
  ].flatMap((line) => line.split('|')),
)
const READS =
  /^(list|show|show-registration|terms|history|transactions|returns|exceptions|runs|export|differences|batches|batch|lines|liability|instructions|statement|trial-balance|liabilities|prior-period|closings|verify|proof|pdf|tds-certificates|gstr1|backtest)$/
const WITHOUT_MONEY = new Set([
  'change-request approve',
  'change-request reject',
  'cards lock',
  'cards unlock',
  'cards block',
  'cards activate',
  'cards flags set',
  'cards kyc set',
  'statement import',
  'statement match',
  'statement unmatch',
  'statement assign',
  'payout account',
  'payout fee',
  'payout schedule',
  'books close',
  'tax registration',
  'tax issue',
])

test('every command of svc admin runs what was attempted or may be given alone, or moves no money', async () => {
  const known = (name: string) =>
    [ATTEMPTS, ALONE].some((of) => Object.hasOwn(of, name)) || ONCE.includes(name)
  const rest = new Set(Object.keys(COMMAND_LINE))
  const strange = (await administrationCommands())
    .map((text) => text.replace(/^admin /, ''))
    .filter((text) => {
      const [group, verb] = text.split(' ')
      if (Object.hasOwn(COMMAND_LINE, text)) return !rest.delete(text) || !known(COMMAND_LINE[text]!)
      return !MOVES_NOTHING.has(group!) && !READS.test(verb ?? '') && !WITHOUT_MONEY.has(text)
    })
  expect(strange).toEqual([])
  expect([...rest]).toEqual([])
})
