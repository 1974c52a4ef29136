import { ActionIcon, Button, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from './icons.tsx'

interface CopyProps {
  readonly text: string
  /** What is copied, for people who hear the page: "request id". */
  readonly what: string
}

export function Copy({ text, what }: CopyProps) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'teal' : 'gray'}
            size="sm"
            onClick={copy}
            aria-label={copied ? `${what} copied` : `Copy ${what}`}
          >
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

export function CopyWide({ text, what }: CopyProps) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Button
          variant="light"
          color={copied ? 'teal' : 'brand'}
          onClick={copy}
          leftSection={copied ? <CheckIcon /> : <CopyIcon />}
        >
          {copied ? 'Copied' : `Copy ${what}`}
        </Button>
      )}
    </CopyButton>
  )
}

/** A command to run in a terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="start" justify="center" maw="100%">
      <Code block style={{ overflowX: 'auto', textAlign: 'left', minWidth: 0 }} tabIndex={0}>
        {text}
      </Code>
      <Copy text={text} what="command" />
    </Group>
  )
}
