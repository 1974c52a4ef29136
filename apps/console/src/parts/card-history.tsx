import { sentenceCase } from '../words.ts'
import { Section } from './page.tsx'
import { statusLabel } from './status-badge.tsx'
import { Timeline } from './timeline.tsx'

interface CardChange {
  readonly field: string
  readonly from: string
  readonly to: string
  readonly actor: 'partner' | 'operator'
  readonly reason: string
  readonly createdOn: string
}

interface CardHistoryProps {
  readonly changes: readonly CardChange[]
  readonly createdOn: string
  /** What the partner is called: to its own members otherwise than to operators. */
  readonly partner: string
  readonly operator: string
}

/** The life of a card: issued, and every change of its state. */
export function CardHistory({ changes, createdOn, partner, operator }: CardHistoryProps) {
  const made = { at: createdOn, title: 'Issued', color: 'brand' }
  return (
    <Section title="History">
      <Timeline
        entries={[
          ...changes.map(({ createdOn: at, field, from, to, actor, reason }) => ({
            at,
            title: `${sentenceCase(field)}: ${statusLabel(from)} → ${statusLabel(to)}`,
            detail: `by ${actor === 'operator' ? operator : partner}${reason ? `: ${reason}` : ''}`,
            color: to === 'BL' ? 'red' : to === 'L' ? 'yellow' : 'teal',
          })),
          made,
        ]}
      />
    </Section>
  )
}
