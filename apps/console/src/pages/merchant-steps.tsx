import { Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { CheckIcon } from '../parts/icons.tsx'
import { Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'

export const merchantSetUpQuery = (merchantId: string) =>
  queryOptions({
    queryKey: ['merchants', merchantId, 'set-up'],
    queryFn: () =>
      responseOf(api.GET('/merchants/{merchantId}/set-up', { params: { path: { merchantId } } })),
  })

const LABELS: Readonly<Record<Schemas['MerchantStep']['step'], string>> = {
  bank_account: 'Bank account',
  link: 'Link used',
  credential: 'Key',
  qr_code: 'QR code',
  webhook: 'Webhook',
  payment: 'First payment',
  payout: 'First payout',
}

const REFRESH_MS = 10_000

/** How far a merchant has come since it was created; nothing once it has come all the way. */
export function MerchantSteps({ merchantId }: { readonly merchantId: string }) {
  const { can } = useSession()
  const { data } = useQuery({
    ...merchantSetUpQuery(merchantId),
    refetchInterval: ({ state }) => !state.data?.steps.every(({ isDone }) => isDone) && REFRESH_MS,
  })
  if (!data) return undefined
  const { next, steps } = data
  const done = steps.filter(({ isDone }) => isDone).length
  if (done === steps.length) return undefined
  return (
    <Section
      title="Set-up"
      aside={
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            {done} of {steps.length} done
          </Text>
          {next !== undefined && can('operations') && (
            <Button component={Link} to={`/merchants/${merchantId}/set-up`} size="compact-sm">
              Continue set-up
            </Button>
          )}
        </Group>
      }
    >
      <Group component="ul" gap="lg" m={0} p={0} style={{ listStyle: 'none' }}>
        {steps.map(({ isDone, step }) => (
          <Group
            key={step}
            component="li"
            gap={4}
            fz="sm"
            c={isDone ? 'var(--mantine-color-text)' : 'dimmed'}
          >
            {isDone ? <CheckIcon /> : <span aria-hidden="true">○</span>}
            {LABELS[step]}
            <VisuallyHidden>{isDone ? ', done' : ', not yet'}</VisuallyHidden>
          </Group>
        ))}
      </Group>
    </Section>
  )
}
