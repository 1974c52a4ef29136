import {
  type BankCredit,
  BankCreditRecord,
  bankCredits,
  creditRecordToWire,
} from '@svc/core/cards/account/bank-credit'
import { exactFilter, type Resource } from '../http/resource.ts'

/** Bank transfers to card accounts; operators alone read them (decision R15). */
export const bankCredit = {
  titles: { operator: 'BankCreditRecord' },
  record: { schema: BankCreditRecord, toWire: creditRecordToWire },
  from: { columns: bankCredits.columns, table: 'bank_credits b', alias: 'b' },
  tenant: 'b.partner_id',
  keys: [{ sql: 'b.credit_id', type: 'text' }],
  fields: {},
  filters: {
    q: { schema: exactFilter('The bank’s reference'), sql: 'b.utr = ?' },
    cardAccountId: { schema: exactFilter('To this card account'), sql: 'b.card_account_id = ?' },
    partnerId: { schema: exactFilter('Of this partner'), sql: 'b.partner_id = ?' },
  },
} satisfies Resource<BankCredit>
