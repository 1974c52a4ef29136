import { Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { type Fact, Facts } from '../parts/page.tsx'
import { productLabel } from '../words.ts'
import type { SetUp } from './set-up-state.ts'

/** What a step that is done has made. */
export function WhatThereIs({ setUp, step }: { readonly setUp: SetUp; readonly step: number }) {
  return <Facts cols={2} facts={factsOf(setUp)[step] ?? []} />
}

function factsOf({
  partnerId,
  name,
  product,
  company,
  cardAccount,
  handedOver,
}: SetUp): readonly (readonly Fact[])[] {
  return [
    [
      { label: 'Name', value: name },
      { label: 'Product', value: productLabel(product) },
      { label: 'Partner id', value: <Id id={partnerId} what="partner id" /> },
    ],
    [
      {
        label: 'Company',
        value: company && (
          <ObjectLink kind="company" id={company.companyId}>
            {company.name}
          </ObjectLink>
        ),
      },
      {
        label: 'Card account',
        value: cardAccount && (
          <ObjectLink kind="cardAccount" id={cardAccount.cardAccountId}>
            {cardAccount.cardProgramme}
          </ObjectLink>
        ),
      },
      { label: 'Load by default', value: <Money amount={cardAccount?.denomination} /> },
    ],
    [{ label: 'Credentials', value: handedOver ? 'Handed over' : 'Not handed over yet' }],
    [{ label: 'Balance', value: <Money amount={cardAccount?.balance} /> }],
  ]
}

/** What the set-up of a partner ends with. */
export const FirstCard = ({ setUp: { card, cardAccount } }: { readonly setUp: SetUp }) => (
  <Facts
    cols={2}
    facts={[
      {
        label: 'First card',
        value: card && (
          <ObjectLink kind="card" id={card.svcCardId}>
            {card.maskedNumber}
          </ObjectLink>
        ),
      },
      { label: 'Left on the card account', value: <Money amount={cardAccount?.balance} /> },
    ]}
  />
)
