import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CopyWide } from '../parts/copy.tsx'
import { WarningIcon } from '../parts/icons.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Facts } from '../parts/page.tsx'
import { LINK_LOST } from '../parts/tenant-handovers.tsx'
import type { SetUp } from './set-up-state.ts'

/** The link lives in the memory of this page alone. */
export function LinkToSend({ link }: { readonly link: string }) {
  return (
    <Alert color="orange" icon={<WarningIcon />} title="Copy the link now" mb="md">
      <Stack gap="sm">
        <div>This is the only time it is shown. {LINK_LOST}</div>
        <Code block data-testid="secret" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {link}
        </Code>
        <Group>
          <CopyWide text={link} what="link" />
        </Group>
      </Stack>
    </Alert>
  )
}

export function SetUpDone({ setUp, link }: { readonly setUp: SetUp; readonly link: string | undefined }) {
  const { partnerId, card, cardAccount } = setUp
  return (
    <>
      {link && <LinkToSend link={link} />}
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
      <Group justify="flex-end" mt="md">
        <Button component={Link} to={`/partners/${partnerId}`} variant={link ? 'default' : 'filled'}>
          Go to the partner
        </Button>
      </Group>
    </>
  )
}
