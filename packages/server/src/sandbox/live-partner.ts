import type { SandboxFile } from './demo.ts'

interface Cards {
  readonly physicalCardId: string
  readonly lostCardId: string
  readonly unwantedCardId: string
  readonly lockedCardId: string
  readonly leavingUserId: string
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
})
