import { required } from '@svc/kernel/invariant'
import type { SelfCall } from '../http/operation.ts'
import type { SandboxFile } from './demo.ts'

type Call = (call: SelfCall) => Promise<{ readonly payload: Readonly<Record<string, string>> }>

/** A user without cards, whose personal data may be erased, and the number that money is transferred to. */
export async function partnerForReference(call: Call, demo: SandboxFile, token: string, day: string) {
  const { partnerId, companyId, cardAccountId } = demo.incentivePartner
  const headers = { authorization: `Bearer ${token}`, partnerid: partnerId }
  const json = { 'idempotency-key': `reference-leaving-${day}`, 'content-type': 'application/json' }
  const user = await call({
    method: 'POST',
    path: '/api/v0/partner/users',
    headers: { ...headers, ...json },
    body: Buffer.from(JSON.stringify({ companyId, firstName: 'Leaving' })),
  })
  const path = `/api/v0/partner/card-accounts/${cardAccountId}/funding-instructions`
  const { payload } = await call({ method: 'GET', path, headers })
  return {
    leavingUserId: required(user.payload['userId'], 'a user'),
    virtualAccount: required(payload['virtualAccountNumber'], 'a virtual account'),
  }
}

interface Cards {
  readonly physicalCardId: string
  readonly lostCardId: string
  readonly unwantedCardId: string
  readonly lockedCardId: string
  readonly leavingUserId: string
  readonly virtualAccount: string
}

/** What the reference page sends for a card partner where its ids alone do not do. */
export const partnerRequests = (demo: SandboxFile, cards: Cards, now: number) => ({
  activateCard: { params: { svcCardId: cards.physicalCardId } },
  replaceCard: { params: { svcCardId: cards.lostCardId }, body: { reason: 'Lost' } },
  returnCard: { params: { svcCardId: cards.unwantedCardId }, body: { consentReference: 'letter' } },
  changeCardStatus: { params: { svcCardId: cards.lockedCardId } },
  createCompany: { body: { name: `Company ${now}` } },
  createUser: {
    body: {
      companyId: demo.incentivePartner.companyId,
      firstName: 'Asha',
      email: `asha.${now}@example.com`,
    },
  },
  updateUser: { body: { title: 'Ms' } },
  eraseUser: { params: { userId: cards.leavingUserId } },
  updateCardAccount: { body: { lowBalance: 5000 } },
  getCardAccountStatement: { query: {} },
  getCardAccountStatementPdf: { query: {} },
  receiveBankCredit: { body: { utr: `NEFT${now}`, virtualAccount: cards.virtualAccount, amount: 1_000 } },
  sandboxBankTransfer: { body: { virtualAccountNumber: cards.virtualAccount, amount: 1_000 } },
})
