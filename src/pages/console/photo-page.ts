import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fields, joinFields, octets } from 'direct-http';
import type { Response } from '../../http/context.ts';
import { errorResponse } from '../../http/response.ts';
import { html, Html } from '../shared/html.ts';
import { findPhotoHost } from './photo-host.js';

/** The path of the page that a frame shows of a photo: `/photo?address=https://photos.example/rex.jpg`. */
export const PHOTO = '/photo';

const STYLE = new Html('html,body,img{width:100%;height:100%;margin:0}img{object-fit:contain}');

const STYLE_HASH = createHash('sha256').update(STYLE.text).digest('base64');

/**
 * One photo of another server, in a page without scripts. Its policy names the one host, so a redirect leads nowhere else.
 * Only a page of the console may show it.
 */
export function respondPhoto({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): Response {
  const address = new URLSearchParams(url.slice(url.indexOf('?'))).get('address') ?? '';
  const host = findPhotoHost(address);
  // Browsers leave the header out where they reach the console without https.
  const { 'sec-fetch-site': site = 'same-origin' } = headers;
  if (host === undefined || site !== 'same-origin')
    return errorResponse('not_found', 'The console shows no photo here.');
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Photo</title>
<style>${STYLE}</style>
</head>
<body><img src="${address}" alt="Photo" referrerpolicy="no-referrer"></body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `img-src https://${host}`,
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    'sandbox',
  ];
  const sent = joinFields(
    fields('Content-Type', 'text/html; charset=utf-8', 'X-Content-Type-Options', 'nosniff'),
    fields('Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'),
    fields('Content-Security-Policy', policy.join('; ')),
  );
  return { status: 200, headers: sent, body: octets(page.text) };
}
