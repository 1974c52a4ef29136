import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import type { Paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { account, openAccounts } from '../../ledger/accounts.ts'
import type { Company } from '../../tenants/company.ts'
import { type Product } from '../../tenants/partner.ts'
import { type LoadTerms, loadTermsOf, requireFirstLoad } from '../card/load-limits.ts'
import { type CardAccount, cardAccounts } from './card-account.ts'
import { changedSettings, partnerSettingsColumn, type RecordSettingsChange } from './record-settings.ts'
import { requireMayUnallocate } from './update-card-account.ts'

export interface CreateCardAccount
  extends Pick<
    CardAccount,
    'partnerId' | 'companyId' | 'product' | 'accountType' | 'binType' | 'programme' | 'denominationPaise'
  > {
  readonly lowBalancePaise?: Paise | null | undefined
  readonly unallocateFundAllowed?: boolean | undefined
  readonly recordSettings?: RecordSettingsChange
}

interface Prepared extends CreateCardAccount {
  readonly tenantId: string
  readonly cardAccountId: string
  readonly loadTerms: LoadTerms
}

type Customer = Pick<Company, 'partnerId' | 'companyId' | 'name'> &
  Pick<CardAccount, 'partnerSettings'> & { readonly products: readonly Product[] }

const CUSTOMERS = statement<Customer>(
  'card_account_customers',
  `select co.partner_id as "partnerId", co.company_id as "companyId", co.name, p.products, ${partnerSettingsColumn('co.partner_id')}
   from companies co join partners p on p.partner_id = co.partner_id
   where (co.partner_id, co.company_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Opens a card account of a company with its funding account in the ledger, empty. */
export const createCardAccount = command({
  name: 'createCardAccount',

  prepare:
    ({ config, newId }) =>
    (args: CreateCardAccount): Prepared => ({
      ...args,
      tenantId: args.partnerId,
      cardAccountId: newId('acc'),
      loadTerms: loadTermsOf(config),
    }),

  lock,

  decide(customers: Map<string, Customer>, create, createdAt): CardAccount {
    const {
      tenantId: _,
      loadTerms,
      lowBalancePaise = null,
      unallocateFundAllowed = false,
      recordSettings: given = {},
      ...plan
    } = create
    const customer = customers.get(plan.companyId) ?? fail('company_not_found')
    if (!customer.products.includes(plan.product))
      failField(
        'product',
        'not_allowed',
        `must be one that the partner uses: ${customer.products.join(', ')}`,
      )
    requireFirstLoad(loadTerms, plan.accountType, plan.denominationPaise)
    requireMayUnallocate(plan.accountType, unallocateFundAllowed)
    const recordSettings = changedSettings({}, given)
    return {
      ...plan,
      lowBalancePaise,
      unallocateFundAllowed,
      recordSettings,
      companyName: customer.name,
      partnerSettings: customer.partnerSettings,
      createdAt,
    }
  },

  apply: () => undefined,

  save(tx, made) {
    cardAccounts.insert(tx, made)
    openAccounts(
      tx,
      made.map(({ partnerId, cardAccountId }) => account('card_funding', partnerId, cardAccountId)),
    )
  },
})

async function lock(tx: BatchTx, creates: readonly Prepared[]): Promise<ByTenant<Map<string, Customer>>> {
  const found = await tx.query(
    CUSTOMERS,
    columns(
      creates,
      ({ partnerId }) => partnerId,
      ({ companyId }) => companyId,
    ),
  )
  return byTenant(
    found,
    ({ partnerId }) => partnerId,
    ({ companyId }) => companyId,
    (customer) => customer,
  )
}
