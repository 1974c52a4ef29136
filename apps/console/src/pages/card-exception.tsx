import { Alert, Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { sentenceCase } from '../words.ts'
import { REASONS } from './card-exception-reasons.ts'
import { exceptionMoney, PartnerOf } from './card-exceptions.tsx'

type Detail = Schemas['CardExceptionDetail']

export function CardException() {
  const { exceptionId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['card-exceptions', exceptionId],
    queryFn: () =>
      responseOf(api.GET('/card-exceptions/{exceptionId}', { params: { path: { exceptionId } } })),
  })
  const reason = query.data?.exception.reason
  return (
    <Page
      title={reason ? REASONS[reason].title : 'Card exception'}
      trail={[{ to: '/card-exceptions', label: 'Card exceptions' }]}
    >
      <Loaded query={query}>
        {({ exception, message }) => (
          <>
            <Alert color="blue" title="What to do" role="note">
              {REASONS[exception.reason].toDo}
            </Alert>
            <About exception={exception} />
            {message && <Message message={message} />}
            {exception.body !== undefined && (
              <Section title="The message as it was signed, card numbers masked">
                <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                  {exception.body}
                </Code>
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ exception }: Pick<Detail, 'exception'>) {
  const { createdOn, detail, exceptionId, partnerId, reason, svcCardId } = exception
  const money = exceptionMoney(exception)
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'What happened', value: REASONS[reason].meaning },
          { label: 'What cannot be read', value: detail },
          {
            label: 'In the account of card exceptions',
            value:
              money === undefined ? (
                'Nothing'
              ) : (
                <ObjectLink kind="ledgerAccount" id={`card_exceptions:${partnerId}`}>
                  <Money amount={money} signed fw={700} />
                </ObjectLink>
              ),
          },
          { label: 'Card', value: svcCardId && <ObjectLink kind="card" id={svcCardId} /> },
          { label: 'Partner', value: <PartnerOf partnerId={partnerId} /> },
          { label: 'Received', value: <Instant at={createdOn} long /> },
          { label: 'Exception id', value: <Id id={exceptionId} what="exception id" /> },
        ]}
      />
    </Section>
  )
}

function Message({ message }: { readonly message: NonNullable<Detail['message']> }) {
  const { acquirerId, amount, authorizationId, captureId, channel, credited, debited } = message
  return (
    <Section title={`The message: ${sentenceCase(message.type).toLowerCase()}`}>
      <Facts
        facts={[
          { label: 'Amount', value: <Money amount={amount} fw={700} /> },
          { label: 'Taken from the card', value: <Money amount={debited} /> },
          { label: 'Given back to the card', value: <Money amount={credited} /> },
          {
            label: 'Merchant',
            value: [message.merchantName, message.merchantPlace].filter(Boolean).join(', '),
          },
          { label: 'Channel', value: channel },
          { label: 'Response code (field 39)', value: message.responseCode },
          { label: 'Acquirer', value: acquirerId },
          { label: 'STAN', value: message.stan },
          { label: 'RRN', value: message.rrn },
          { label: 'Transmitted', value: <Instant at={message.transmittedOn} long /> },
          { label: 'Authorisation', value: authorizationId },
          { label: 'Capture', value: captureId },
          { label: 'Message id', value: <Id id={message.messageId} what="message id" /> },
        ]}
      />
    </Section>
  )
}
