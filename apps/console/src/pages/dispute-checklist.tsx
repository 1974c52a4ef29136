import { Group, List, Text } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { counted } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'

type Detail = Schemas['DisputeDetail']

/** What shows a point, as far as the service has it. */
interface Shown {
  readonly words: boolean
  readonly files: number
  readonly order: boolean
  readonly refunded: boolean
  readonly others: number
}

interface Point {
  readonly asks: string
  /** What of it is there; undefined: nothing is. */
  readonly has: (shown: Shown) => string | undefined
}

const inWords: Point['has'] = ({ words }) => (words ? 'in the text' : undefined)
const asFile: Point['has'] = ({ files }) => (files > 0 ? counted(files, 'file') : undefined)

const ORDER: Point = {
  asks: 'Which order was paid',
  has: ({ order }) => (order ? 'the code names it' : undefined),
}

/** By words of the reason that the bank reports, what a network wants to see. */
const REASONS: readonly (readonly [reason: RegExp, name: string, points: readonly Point[]])[] = [
  [
    /duplicat|twice|double/i,
    'paid twice',
    [
      {
        asks: 'Other payments of the same payer',
        has: ({ others }) => (others > 0 ? counted(others, 'payment') : undefined),
      },
      { asks: 'What each payment was for', has: inWords },
      { asks: 'Invoice or bill of each, as a file', has: asFile },
    ],
  ],
  [
    /refund|credit not/i,
    'a refund is missing',
    [
      {
        asks: 'The refund, with the bank’s reference',
        has: ({ refunded }) => (refunded ? 'refunded' : undefined),
      },
      { asks: 'What was agreed with the customer', has: inWords },
      { asks: 'Terms of refunds, as a file', has: asFile },
    ],
  ],
  [
    /not received|not delivered|not provided|deliver|goods|service/i,
    'goods or services did not arrive',
    [
      ORDER,
      { asks: 'What was delivered, when and to whom', has: inWords },
      { asks: 'Proof of delivery, as a file', has: asFile },
    ],
  ],
  [
    /fraud|unauthori[sz]ed|not recogni[sz]ed|not authori[sz]ed/i,
    'the payer does not recognise the payment',
    [
      ORDER,
      { asks: 'Who bought, and how the shop knows', has: inWords },
      { asks: 'Bill, receipt or picture, as a file', has: asFile },
      {
        asks: 'Other payments of the same payer',
        has: ({ others }) => (others > 0 ? counted(others, 'payment') : undefined),
      },
    ],
  ],
]
const ANY: readonly Point[] = [
  ORDER,
  { asks: 'What was sold, when and to whom', has: inWords },
  { asks: 'Bill, receipt or proof of delivery, as a file', has: asFile },
]

function shownIn({ ofPayer, payment, submissions }: Detail): Shown {
  return {
    words: submissions.some(({ evidence }) => evidence.trim() !== ''),
    files: submissions.reduce((sum, { attachments }) => sum + attachments.length, 0),
    order: payment.referenceNumber !== undefined,
    refunded: (payment.refundedAmount ?? 0) > 0,
    others: ofPayer?.payments ?? 0,
  }
}

/** What the reason of the dispute asks for, and which of it is there. */
export function DisputeChecklist({ dispute }: { readonly dispute: Detail }) {
  const { reason = '' } = dispute
  const [, name, points] = REASONS.find(([words]) => words.test(reason)) ?? [undefined, undefined, ANY]
  const shown = shownIn(dispute)
  const missing = points.filter(({ has }) => has(shown) === undefined).length
  return (
    <Section
      title="What the network asks for"
      aside={
        <Text size="sm" c="dimmed">
          {missing === 0 ? 'all of it is there' : `${missing} of ${points.length} missing`}
        </Text>
      }
    >
      <Text size="sm" c="dimmed" mb="xs">
        {name === undefined ? 'The reason names no kind: what every dispute needs.' : `Where ${name}:`}
      </Text>
      <List listStyleType="none" size="sm" spacing={6}>
        {points.map(({ asks, has }) => {
          const found = has(shown)
          return (
            <List.Item key={asks}>
              <Group gap="xs">
                <Mark color={found === undefined ? 'orange' : 'teal'}>
                  {found === undefined ? 'Missing, may help' : 'There'}
                </Mark>
                <span>{asks}</span>
                {found !== undefined && (
                  <Text span size="xs" c="dimmed">
                    {found}
                  </Text>
                )}
              </Group>
            </List.Item>
          )
        })}
      </List>
    </Section>
  )
}
