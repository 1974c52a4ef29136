import { SimpleGrid, Stack } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { type Fact, Facts, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { personName } from '../words.ts'

type Card = Schemas['Card']
interface CardFactsProps {
  readonly detail: Schemas['CardDetail']
}

const yes = (flag: boolean) => (flag ? 'Yes' : 'No')
const lines = (...parts: string[]) => parts.filter(Boolean).join(', ')

/** A channel works when holder and admin both allow it. */
const channel = (allowed: boolean, allowedAdmin: boolean) =>
  allowed && allowedAdmin
    ? 'On'
    : `Off (${lines(allowed ? '' : 'by the holder', allowedAdmin ? '' : 'by the admin')})`

function Holder({ detail: { card, partnerId } }: CardFactsProps) {
  return (
    <Section title="Holder" aside={<Reveal id={card.svcCardId} shown={card} />}>
      <Facts
        cols={2}
        facts={[
          {
            label: 'Holder',
            value: (
              <ObjectLink kind="user" id={card.userId}>
                {personName(card) || card.userId}
              </ObjectLink>
            ),
          },
          {
            label: 'Company',
            value: (
              <ObjectLink kind="company" id={card.companyId}>
                {card.companyName}
              </ObjectLink>
            ),
          },
          { label: 'E-mail', value: card.email },
          { label: 'Mobile', value: card.mobile },
          { label: 'Gender', value: card.gender },
          { label: 'Date of birth', value: card.specialDate },
          { label: 'Tax number (PAN)', value: card.pan },
          { label: 'KYC', value: <StatusBadge state={card.kycStatus.name} label={card.kycStatus.label} /> },
          {
            label: 'Address',
            value: lines(card.address, card.address2, card.city, card.state, card.pincode, card.country),
          },
          {
            label: 'Delivery address',
            value: lines(
              card.deliveryAddress,
              card.deliveryAddress2,
              card.deliveryCity,
              card.deliveryState,
              card.deliveryPincode,
              card.deliveryCountry,
            ),
          },
          { label: 'Partner', value: <ObjectLink kind="partner" id={partnerId} /> },
          { label: 'Card account', value: <ObjectLink kind="cardAccount" id={card.cardAccountId} /> },
        ]}
      />
    </Section>
  )
}

const cardFacts = (card: Card): Fact[] => [
  { label: 'Type', value: card.accountType.label },
  { label: 'BIN type', value: card.binType.label },
  { label: 'Kit', value: card.kitType.label },
  { label: 'Programme', value: card.cardProgramme },
  { label: 'Expires', value: `${card.expiryMonth}/${card.expiryYear}` },
  { label: 'Physical card', value: yes(card.physicalCard) },
  { label: 'Physical card requested', value: card.physicalCardRequestDate },
  { label: 'Activated', value: yes(card.cardActivated) },
  { label: 'Block code', value: card.blockCode },
  { label: 'Remarks', value: card.remarks },
  { label: 'Created', value: card.createdOn },
  { label: 'Last change', value: card.modifiedOn },
]

const channelFacts = (card: Card): Fact[] => [
  { label: 'Shop (POS)', value: channel(card.posAllowed, card.posAllowedAdmin) },
  { label: 'ATM', value: channel(card.atmAllowed, card.atmAllowedAdmin) },
  { label: 'Online', value: channel(card.onlineAllowed, card.onlineAllowedAdmin) },
  { label: 'Un-allocate funds', value: yes(card.unallocateFundAllowed) },
  { label: 'Use account funds', value: yes(card.useAccountFunds) },
  { label: 'Use parent funds', value: yes(card.useParentFundAllowed) },
]

const otherFacts = (card: Card): Fact[] => [
  { label: 'Load transaction', value: <Id id={card.svcCardTxnId} what="transaction id" /> },
  { label: 'Reference (token)', value: <Id id={card.token} what="token" /> },
  { label: 'Primary card', value: yes(card.primaryCard) },
  { label: 'Prepaid', value: yes(card.prepaidCard) },
  { label: 'Closed loop', value: yes(card.closedLoopCard) },
  { label: 'PAN validated', value: yes(card.panValidated) },
  { label: 'CKYC enabled', value: yes(card.cKycEnabled) },
  { label: 'Video KYC allowed', value: yes(card.vKycAllowed) },
  { label: 'Latest terms accepted', value: yes(card.latestTnCVersionAccepted) },
]

function Rest({ detail: { card } }: CardFactsProps) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Section title="Card">
        <Facts cols={2} facts={cardFacts(card)} />
      </Section>
      <Stack>
        <Section title="Where it may be used">
          <Facts cols={3} facts={channelFacts(card)} />
        </Section>
        <Section title="Other fields of the record">
          <Facts cols={2} facts={otherFacts(card)} />
        </Section>
      </Stack>
    </SimpleGrid>
  )
}

/** The record of the specification in groups that a person looks for. */
export const CardFacts = { Holder, Rest }
