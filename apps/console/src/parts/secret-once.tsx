import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { CopyWide } from './copy.tsx'
import { WarningIcon } from './icons.tsx'

interface SecretOnceProps {
  /** What it is: "API key". */
  readonly what: string
  readonly secret: string | undefined
  /** What to do when it is lost. */
  readonly lost?: string
  /** What belongs to it and is not secret, such as a client id. */
  readonly beside?: readonly { readonly label: string; readonly value: string }[]
  readonly onDone: () => void
}

const REVOKE =
  'The service keeps a digest of it and cannot show it again; if it is lost, issue another one and revoke this one.'

/** Shows a secret the only time that it can be seen. It lives in the memory of this page alone and goes when it is closed. */
export function SecretOnce({ what, secret, lost = REVOKE, beside = [], onDone }: SecretOnceProps) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onDone}
      title={`New ${what}`}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack>
        <Alert color="orange" icon={<WarningIcon />} title="Copy it now">
          This is the only time it is shown. {lost}
        </Alert>
        {beside.map(({ label, value }) => (
          <div key={label}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Code>{value}</Code>
          </div>
        ))}
        <div>
          <Text size="xs" c="dimmed">
            {what}
          </Text>
          <Code block data-testid="secret" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {secret}
          </Code>
        </div>
        <Group justify="space-between">
          <CopyWide text={secret ?? ''} what={what} />
          <Button variant="default" onClick={onDone}>
            I have kept it
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
