import type { ClientAuth } from 'oauth4webapi';

/**
 * The secret of a client in a header, encoded as forms are (RFC 6749). The library's own encodes more than it must, such as
 * `-` and `_`, and servers that decode nothing then know no such client.
 */
export function clientSecretBasic(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const pair = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
    headers.set('authorization', `Basic ${pair}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
