import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { Paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { isReloadable, type LoadTerms, loadTermsOf, requireFirstLoad } from '../card/load-limits.ts'
import { type AccountType, type CardAccount, cardAccounts } from './card-account.ts'
import { changedSettings, type RecordSettings, type RecordSettingsChange } from './record-settings.ts'

export interface UpdateCardAccount {
  readonly partnerId: string
  readonly cardAccountId: string
  /** Absent: as it is. */
  readonly denominationPaise?: Paise | undefined
  /** Absent: as it is; `null`: none. */
  readonly lowBalancePaise?: Paise | null | undefined
  /** Absent: as it is. */
  readonly unallocateFundAllowed?: boolean | undefined
  readonly recordSettings?: RecordSettingsChange
}

type Row = Omit<CardAccount, 'companyName' | 'partnerSettings'>
type Updated = Row & Pick<CardAccount, 'partnerSettings'>

interface Prepared extends UpdateCardAccount {
  readonly tenantId: string
  readonly loadTerms: LoadTerms
}

interface State {
  readonly accounts: Map<string, Row>
  readonly partnerSettings: RecordSettings
}

const LOCK = cardAccounts.lock('settings')
const saveSettings = cardAccounts.updates(
  ['denominationPaise', 'lowBalancePaise', 'unallocateFundAllowed', 'recordSettings'],
  'settings',
)

const OF_PARTNERS = statement<{ partnerId: string; recordSettings: RecordSettings }>(
  'partner_record_settings_of',
  `select s.partner_id as "partnerId", s.record_settings as "recordSettings"
   from partner_record_settings s where s.partner_id = any ($1)`,
)

/** Decision C7: money of gift cards goes back to no card account but at their end. */
export function requireMayUnallocate(type: AccountType, allowed: boolean): void {
  if (allowed && !isReloadable(type))
    failField(
      'unallocateFundAllowed',
      'not_allowed',
      'must be false: money of gift cards is never taken back',
    )
}

/** Changes what a partner may set on its card account. */
export const updateCardAccount = command({
  name: 'updateCardAccount',
  prepare:
    ({ config }) =>
    (args: UpdateCardAccount): Prepared => ({
      ...args,
      tenantId: args.partnerId,
      loadTerms: loadTermsOf(config),
    }),
  lock,
  decide(
    { accounts, partnerSettings }: State,
    { cardAccountId, denominationPaise, lowBalancePaise, loadTerms, ...change },
  ): Updated {
    const account = accounts.get(cardAccountId) ?? fail('card_account_not_found')
    requireFirstLoad(loadTerms, account.accountType, denominationPaise)
    const { unallocateFundAllowed = account.unallocateFundAllowed } = change
    requireMayUnallocate(account.accountType, unallocateFundAllowed)
    return {
      ...account,
      denominationPaise: denominationPaise ?? account.denominationPaise,
      lowBalancePaise: lowBalancePaise === undefined ? account.lowBalancePaise : lowBalancePaise,
      unallocateFundAllowed,
      recordSettings: changedSettings(account.recordSettings, change.recordSettings ?? {}),
      partnerSettings,
    }
  },
  apply: ({ accounts }, account) => void accounts.set(account.cardAccountId, account),
  save: (tx, accounts) =>
    saveSettings(tx, [...new Map(accounts.map((account) => [account.cardAccountId, account])).values()]),
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const [accounts, partners] = await Promise.all([
    cardAccounts.lockRows<Row>(tx, LOCK, commands),
    tx.query(OF_PARTNERS, [[...new Set(commands.map(({ tenantId }) => tenantId))]]),
  ])
  const settings = new Map(partners.map(({ partnerId, recordSettings }) => [partnerId, recordSettings]))
  return new ByTenant((tenantId) => ({
    accounts: accounts.of(tenantId),
    partnerSettings: settings.get(tenantId) ?? {},
  }))
}
