import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { expect, test } from 'vitest'

/** Names of fields that say where money goes, or what is kept of it. */
const REDIRECTS = /vpa|ifsc|holder|^number$|accountNumber|beneficiary|remitter|payee|percent|^fixed$/i

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

const fieldsOf = (schema: Schema | undefined, at = ''): string[] =>
  Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => [
    `${at}${name}`,
    ...fieldsOf(field, `${at}${name}.`),
  ])

/** What keeps one person from redirecting money by it (decisions O8, Q15, R10). */
const GUARDS: Readonly<Record<string, string>> = {
  'console.createMerchant vpa': 'no code pays to it yet, and the address of a merchant that is there waits',
  'console.editMerchant vpa':
    'waits for APPROVER_COOLING_DAYS, with an event; test/service/payment-address.test.ts',
  'console.setBankAccount holder':
    'who set it approves no payout to it; test/service/payout-account-approval.test.ts',
  'console.setBankAccount number': 'as its holder',
  'console.setBankAccount ifsc': 'as its holder',
  'console.setMerchantFee percent': 'charges later payments only; test/service/payout-terms.test.ts',
  'console.setMerchantFee fixed': 'as its percent',
  'console.assignRailNotice payeeVpa':
    'a second person above the limit; test/service/assigned-notices.test.ts',
  'console.payQrCode payerVpa': 'sandbox only, and of the payer',
  'console.createBankAccount number':
    'an account of the company, to which its bank’s statements belong: no payment goes to it by this',
  'console.createBankAccount ifsc': 'as its number',
  'console.issueCreditNote number': 'of an invoice',
  'console.issueDebitNote number': 'of a credit note',
}
/** What needs no permission for money: it takes no money that is there, or waits. */
const WITHOUT_FINANCE = [
  'console.createMerchant vpa',
  'console.editMerchant vpa',
  'console.payQrCode payerVpa',
]

const found = CONSOLE_OPERATIONS.filter(({ method }) => method !== 'GET').flatMap(
  ({ body, id, permission }) =>
    fieldsOf(body as Schema | undefined)
      .filter((field) => REDIRECTS.test(field.split('.').at(-1)!))
      .map((field) => ({ field: `${id} ${field}`, permission })),
)

test('every field of an operation of operators that redirects money is known, with what guards it', () => {
  expect(found.map(({ field }) => field).sort()).toEqual(Object.keys(GUARDS).sort())
})

test('without the permission for money no such field is changed, but an address that waits', () => {
  const others = found.filter(({ permission }) => permission !== 'finance').map(({ field }) => field)
  expect(others.sort()).toEqual(WITHOUT_FINANCE)
})
